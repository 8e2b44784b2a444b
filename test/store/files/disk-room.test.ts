import { expect, it } from 'vitest';
import { DiskRoom } from '../../../src/store/files/disk-room.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { codeFrom } from './file-store-contract.ts';

it('is missing while less than a tenth of the disk is free, looked at every five seconds', async () => {
  const clock = new FakeClock();
  let bavail = 11;
  let looks = 0;
  const room = new DiskRoom('/data', clock, async () => {
    looks += 1;
    return { bavail, blocks: 100 };
  });
  expect(await codeFrom(room.check())).toBeUndefined();
  bavail = 9;
  expect(await codeFrom(room.check())).toBeUndefined();
  clock.advance(5_000);
  expect(await codeFrom(room.check())).toBe('STORE_FULL');
  expect(await codeFrom(room.check())).toBe('STORE_FULL');
  bavail = 10;
  clock.advance(5_000);
  expect(await codeFrom(room.check())).toBeUndefined();
  expect(looks).toBe(3);
});

it('is there on a disk that cannot be asked', async () => {
  const room = new DiskRoom('/data', new FakeClock(), () => Promise.reject(new Error('EIO')));
  expect(await codeFrom(room.check())).toBeUndefined();
});
