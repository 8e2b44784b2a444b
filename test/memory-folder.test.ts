// Where the temporary files of a test run are.

import { expect, it } from 'vitest';
import { hasRoom } from './memory-folder.ts';

const GB = 2 ** 30;
const facts = {
  mounts: 'proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,relatime,size=24683620k 0 0\n',
  memory: 'MemTotal:       24683620 kB\nMemAvailable:   16777216 kB\n',
  freeBytes: 16 * GB,
};

it('are in memory where eight gigabytes of it are free', () => {
  expect(hasRoom(facts)).toBe(true);
});

it.each([
  ['of a container, which is small', { freeBytes: 64 * 2 ** 20 }],
  ['of a machine that has little left', { memory: 'MemAvailable:    4194304 kB\n' }],
  ['of a kernel that does not say what is left', { memory: '' }],
  ['from which nothing may be run', { mounts: 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec 0 0\n' }],
  ['that cannot be written', { mounts: 'tmpfs /dev/shm tmpfs ro,relatime 0 0\n' }],
  ['that is a folder of the disk', { mounts: '/dev/vda / ext4 rw,relatime 0 0\n' }],
])('are not in a memory %s', (_, other) => {
  expect(hasRoom({ ...facts, ...other })).toBe(false);
});
