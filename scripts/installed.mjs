// Checks whether node_modules has what package-lock.json names, by npm's own record of what it installed. Does not read
// the packages. Plain Node. Source: npm docs, package-lock.json, "hidden lockfiles".

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether every package is installed in the version of the lock file, and no other. Optional packages are required
 *  only if they are built for this kind of machine; only npm can decide about the rest. */
export function isInstalled(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'));
  if (wanted === undefined || installed === undefined) return false;
  if (!Object.keys(installed).every((path) => Object.hasOwn(wanted, path))) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    const found = installed[path];
    if (path === '') return true; // The project itself.
    if (found === undefined) return entry.optional === true && !isForThisMachine(entry);
    const isSame = found.version === entry.version && found.integrity === entry.integrity;
    return isSame && existsSync(join(root, path, 'package.json'));
  });
}

/** Packages by path, such as `node_modules/zod`; undefined if the file is missing or incomplete. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined; // npm ci reports faults of the lock file, and rewrites the record.
  }
}

/** Whether a package is built for one kind of machine, and for this one. */
function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined && cpu === undefined) return false;
  return admits(os, process.platform) && admits(cpu, process.arch) && admits(libc, libcHere());
}

/** Whether `names`, as in package.json, admit `name`: they list it, or have only names with a `!`, without it. */
function admits(names, name) {
  if (names === undefined) return true;
  if (names.includes(`!${name}`)) return false;
  return names.includes(name) || names.every((each) => each.startsWith('!'));
}

function libcHere() {
  process.report.excludeNetwork = true; // The report would look up host names.
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
