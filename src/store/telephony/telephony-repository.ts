// Telephony configurations and phone numbers as the one repository that the other rooms see.

import type { StoreContext } from '../db/store-context.ts';
import {
  createConfiguration,
  deactivateConfiguration,
  deleteConfiguration,
  getConfiguration,
  listConfigurations,
  reactivateConfiguration,
  setDefaultOutbound,
  updateConfiguration,
} from './configurations.ts';
import {
  createNumber,
  deleteNumber,
  findInbound,
  getNumber,
  listNumbers,
  setDefaultCaller,
  updateNumber,
} from './phone-numbers.ts';
import type { TelephonyStore } from './telephony-store.ts';

export function telephonyStore(context: StoreContext): TelephonyStore {
  return {
    listConfigurations: (...from) => listConfigurations(context, ...from),
    getConfiguration: (...from) => getConfiguration(context, ...from),
    createConfiguration: (...from) => createConfiguration(context, ...from),
    updateConfiguration: (...from) => updateConfiguration(context, ...from),
    deactivate: (...from) => deactivateConfiguration(context, ...from),
    reactivate: (...from) => reactivateConfiguration(context, ...from),
    setDefaultOutbound: (...from) => setDefaultOutbound(context, ...from),
    deleteConfiguration: (...from) => deleteConfiguration(context, ...from),
    findInbound: (...from) => findInbound(context, ...from),
    listNumbers: (...from) => listNumbers(context, ...from),
    getNumber: (...from) => getNumber(context, ...from),
    createNumber: (...from) => createNumber(context, ...from),
    updateNumber: (...from) => updateNumber(context, ...from),
    setDefaultCaller: (...from) => setDefaultCaller(context, ...from),
    deleteNumber: (...from) => deleteNumber(context, ...from),
  };
}
