import { PortableG722 } from '../../src/codec/g722-portable.ts';
import { g722Contract } from './g722-contract.ts';

g722Contract('portable', () => new PortableG722());
