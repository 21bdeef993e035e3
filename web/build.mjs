// Builds the scripts and the styles of the explorer and of the page of curves; with --check it only says whether they are
// stale. The first line of a script tells of which sources it was made, so that a stale one is noticed without node, too.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [explorer, curves] = ["stb_gym/explorer/page", "training/curves"];

const sources = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const hash = createHash("sha256");
for (const path of [...sources, join(here, "package-lock.json"), join(here, "build.mjs")].sort()) {
  hash.update(readFileSync(path));
}

const made = `// sources ${hash.digest("hex")}\n`;

const built = await build({
  bundle: true,
  minify: true,
  write: false,
  target: "es2022",
  legalComments: "none",
  entryPoints: [
    { in: join(here, "src", "main.tsx"), out: explorer },
    { in: join(here, "src", "style", "page.css"), out: explorer },
    { in: join(here, "src", "curves", "main.tsx"), out: curves },
    { in: join(here, "src", "curves", "page.css"), out: curves },
  ],
  outdir: join(here, ".."),
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
});
for (const { path, text } of built.outputFiles) {
  const whole = path.endsWith(".js") ? made + text : text;
  if (!process.argv.includes("--check")) {
    writeFileSync(path, whole);
  } else if (readFileSync(path, "utf8") !== whole) {
    console.error(`${path} is stale: run make page`);
    process.exitCode = 1;
  }
}
