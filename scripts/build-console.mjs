// Builds the console for browsers into dist/console/: its program, the modules that pages load when they need them, the
// style sheet, the page, each also compressed, and the licences of the packages in it. With --watch it builds again
// after every change, without compression, for a gateway that is started anew or a page that is loaded again.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { context, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src/console');
const target = join(root, 'dist/console');
const main = join(source, 'main.tsx');
const browsers = ['chrome123', 'firefox120', 'safari17.5'];
/** Entries beside the page's program: modules of the audio thread, which the page loads by their address. */
const worklets = readdirSync(source, { recursive: true })
  .filter((file) => file.endsWith('.worklet.ts'))
  .sort();
/** Global constant with the addresses of the worklets by the names of their files. */
const WORKLETS = 'WORKLETS';

/** Every module that is loaded later names the program as a part of it. So esbuild, which splits by who reaches what, keeps
 *  in one file what the first page needs: nine files cost 10 kB more in headers and worse compression. */
const later = {
  name: 'later',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' ? { path: join(resolveDir, path), namespace: 'later' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: [`import ${JSON.stringify(main)};`, `export * from ${JSON.stringify(path)};`].join(
        '\n',
      ),
      resolveDir: source,
    }));
  },
};

/** A style sheet that a module imports comes with it, and is adopted by the document when the module runs. */
const adopted = {
  name: 'adopted',
  setup: ({ onResolve, onLoad, resolve }) => {
    onResolve({ filter: /\.css$/ }, async ({ path, pluginData, ...from }) => {
      if (from.kind !== 'import-statement' || pluginData === 'adopted') return undefined;
      const found = await resolve(path, { ...from, pluginData: 'adopted' });
      return { ...found, namespace: 'adopted' };
    });
    onLoad({ filter: /./, namespace: 'adopted' }, async ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const { code } = await transform(text, { loader: 'css', minify: true, target: browsers });
      return {
        watchFiles: [path],
        contents: `const sheet = new CSSStyleSheet();
          sheet.replaceSync(${JSON.stringify(code)});
          document.adoptedStyleSheets.push(sheet);`,
      };
    });
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--watch')) await watch();
  else await buildConsole();
}

/** Builds the console. Throws if a module does not compile. */
export async function buildConsole() {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(join(target, 'assets'), { recursive: true });
  const options = settings(await workletAddresses());
  const builder = await context(options);
  try {
    finish(await builder.rebuild(), { isCompressed: true });
  } finally {
    await builder.dispose();
  }
}

async function watch() {
  mkdirSync(join(target, 'assets'), { recursive: true });
  const options = settings(await workletAddresses());
  const finisher = {
    name: 'finish',
    setup: ({ onEnd }) => {
      onEnd((result) => {
        if (result.errors.length > 0) return;
        finish(result, { isCompressed: false });
        console.error('[console] built');
      });
    },
  };
  await (await context({ ...options, plugins: [...options.plugins, finisher] })).watch();
}

function settings(addresses) {
  return {
    absWorkingDir: root,
    entryPoints: [
      { in: main, out: 'main' },
      { in: join(source, 'style/console.css'), out: 'console' },
    ],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    outdir: 'dist/console/assets',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: browsers,
    jsx: 'automatic',
    minify: true,
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    tsconfig: 'src/console/tsconfig.json',
    define: { [WORKLETS]: JSON.stringify(addresses), 'process.env.NODE_ENV': '"production"' },
    plugins: [later, adopted],
  };
}

/** Builds the worklets. Returns their addresses: `{ line: '/console/assets/line.worklet-1A2B3C4D.js' }`. */
async function workletAddresses() {
  const addresses = {};
  for (const file of worklets) {
    const builder = await context({
      ...settings({}),
      entryPoints: [join('src/console', file)],
      splitting: false,
      format: 'iife',
    });
    const { metafile } = await builder.rebuild();
    await builder.dispose();
    const [output] = Object.keys(metafile.outputs);
    addresses[basename(file, '.worklet.ts')] = `/console/assets/${basename(output)}`;
  }
  return addresses;
}

function finish({ metafile }, { isCompressed }) {
  const outputs = Object.entries(metafile.outputs);
  const [entry, { imports }] = outputs.find(([, { entryPoint }]) =>
    entryPoint?.endsWith('main.tsx'),
  );
  const [style] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith('console.css'));
  // The entry has nothing but the import of the file that later modules share with it.
  const [program, ...others] = imports.filter(({ kind }) => kind === 'import-statement');
  if (others.length > 0) throw new Error('the program is in more than one file');
  rmSync(join(root, entry));
  const page = readFileSync(join(source, 'page.html'), 'utf8')
    .replace('<!-- style -->', `<link rel="stylesheet" href="${addressOf(style)}">`)
    .replace('<!-- script -->', `<script type="module" src="${addressOf(program.path)}"></script>`);
  writeFileSync(join(target, 'index.html'), page);
  writeFileSync(join(target, 'licences.txt'), licences(metafile));
  if (isCompressed) compress();
}

function addressOf(path) {
  return `/console/assets/${basename(path)}`;
}

function compress() {
  const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const quality = {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** Name, version and licence text of each package in the console. Throws if one has no licence. */
function licences({ inputs }) {
  const names = new Set(
    Object.keys(inputs)
      .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1])
      .filter((name) => name !== undefined),
  );
  return [...names].sort().map(licenceOf).join('\n\n');
}

function licenceOf(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (license === undefined) throw new Error(`${name} names no licence`);
  const text =
    file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8');
  return `${name} ${version} (${license})\n${'-'.repeat(40)}\n${text.trim()}\n`;
}
