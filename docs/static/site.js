// What the theme leaves out for people with a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const [part, label] of Object.entries({ ".sidebar-drawer": "site", ".toc-drawer": "page" })) {
    document.querySelector(part)?.setAttribute("aria-label", label);
  }
  for (const caption of document.querySelectorAll("p[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  for (const folded of document.querySelectorAll(".cell summary")) folded.removeAttribute("aria-label"); // its words name it
  for (const empty of document.querySelectorAll("table.dataframe th:empty")) empty.role = "presentation";
  for (const box of document.querySelectorAll("pre, math, .table-wrapper, .cell_output")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
