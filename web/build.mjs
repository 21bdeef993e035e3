// Builds the script and the style of the page into the Python package; with --check it only says whether they are stale.
// The first line of the script tells of which sources it was made, so that a stale one is noticed without node, too.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "stb_gym", "explorer");

const sources = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const hash = createHash("sha256");
for (const path of [...sources, join(here, "package-lock.json"), join(here, "build.mjs")].sort()) {
  hash.update(readFileSync(path));
}

const options = { bundle: true, minify: true, write: false, target: "es2022", legalComments: "none" };
const built = await build({
  ...options,
  entryPoints: [join(here, "src", "main.tsx"), join(here, "src", "style", "page.css")],
  outdir: out,
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
});
for (const { path, text } of built.outputFiles) {
  const script = path.endsWith(".js");
  const file = join(out, script ? "page.js" : "page.css");
  const whole = script ? `// sources ${hash.digest("hex")}\n${text}` : text;
  if (!process.argv.includes("--check")) {
    writeFileSync(file, whole);
  } else if (readFileSync(file, "utf8") !== whole) {
    console.error(`${file} is stale: run make page`);
    process.exitCode = 1;
  }
}
