// Tables that can be searched and sorted. Without this script the page shows their first rows and links to all of them.
const ENOUGH = 8; // rows of a table that people overlook at a glance

const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};

const wordsOf = (cell) => (cell.querySelector("[aria-label]")?.getAttribute("aria-label") ?? cell.textContent).trim();

const keyOf = (cell) => {
  const words = wordsOf(cell);
  const number = Number(words.replace(/[,%]/g, ""));
  return words === "" ? null : Number.isNaN(number) ? words : number;
};

// Numbers as numbers, words as words; what is empty comes last either way.
const inOrder = (down) => ([one], [other]) => {
  if (one === null || other === null) return (one === null) - (other === null);
  return (one < other ? -1 : one > other ? 1 : 0) * (down ? -1 : 1);
};

function equip(table) {
  const body = table.tBodies[0];
  const caption = table.caption;
  const count = (number) => number.toLocaleString("en");
  const packed = document.getElementById(table.dataset.rest)?.textContent;
  let loaded;
  const load = async () => {
    if (!packed) return;
    body.insertAdjacentHTML("beforeend", await unpack(packed));
    more.remove();
    tell();
  };
  const whole = () => (loaded ??= load());
  const tell = () => {
    const all = body.rows.length;
    const seen = [...body.rows].filter((row) => !row.hidden).length;
    const told = seen < all ? `${count(seen)} of ${count(all)} rows` : `${count(all)} rows`;
    const known = Number(table.dataset.count ?? all);
    const others = known > all ? `, the first of ${count(known)}; the file has all` : "";
    caption.textContent = told + others;
  };

  const tools = document.createElement("div");
  tools.className = "tools";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = `search, such as ${table.dataset.example}`;
  input.setAttribute("aria-label", `search in: ${table.parentElement.getAttribute("aria-label")}`);
  input.addEventListener("input", async () => {
    await whole();
    const wanted = input.value.toLowerCase().trim().split(/\s+/);
    for (const row of body.rows) {
      const words = [...row.cells].map(wordsOf).join(" ").toLowerCase();
      row.hidden = !wanted.every((word) => words.includes(word));
    }
    tell();
  });
  if (table.dataset.example) tools.append(input); // there are words to search for
  let more;
  if (packed) {
    more = document.createElement("button");
    more.textContent = "show more rows";
    more.addEventListener("click", whole);
    tools.append(more);
  }
  if (tools.children.length) table.parentElement.before(tools);

  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", async () => {
      await whole();
      const down = heading.ariaSort === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => [keyOf(row.cells[heading.cellIndex]), row]);
      keyed.sort(inOrder(down));
      body.append(...keyed.map(([, row]) => row));
    });
  }
}

for (const table of document.querySelectorAll("table")) if (table.tBodies[0].rows.length >= ENOUGH) equip(table);

// A link to a folded table opens it; on a phone the contents begin folded.
const unfold = () => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (place instanceof HTMLDetailsElement) place.open = true;
};
addEventListener("hashchange", unfold);
unfold();
if (matchMedia("(max-width: 999px)").matches) document.querySelector("nav details").open = false;
