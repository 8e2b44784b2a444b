// Whether node_modules holds what package-lock.json names, by the record that npm keeps of what it installed.
// It does not read what is inside a package. Plain Node. Source: npm docs, package-lock.json, "hidden lockfiles".

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every package is there in the version of the lock file, and no other is. Of the optional ones those that are
 *  made for this kind of machine must be there; npm alone knows of the rest whether they are needed. */
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

/** By path, as in `node_modules/zod`; undefined if there is no such file, or half of one. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined; // npm ci will say what is wrong with the lock file, and writes the record anew.
  }
}

/** Compiled for one kind of machine, and that is this one. */
function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined && cpu === undefined) return false;
  return admits(os, process.platform) && admits(cpu, process.arch) && admits(libc, libcHere());
}

/** `names` as in package.json: one of them, or none of those with a `!`. */
function admits(names, name) {
  if (names === undefined) return true;
  if (names.includes(`!${name}`)) return false;
  return names.includes(name) || names.every((each) => each.startsWith('!'));
}

function libcHere() {
  process.report.excludeNetwork = true; // It would look up names.
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
