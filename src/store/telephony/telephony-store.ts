// Telephony configurations and phone numbers as one repository.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import {
  deactivateConfiguration,
  deleteConfiguration,
  getConfiguration,
  insertConfiguration,
  listConfigurations,
  listOfAccount,
  reactivateConfiguration,
  setDefaultOutbound,
  updateConfiguration,
} from './configurations.ts';
import { takeDialTurn } from './dial-turns.ts';
import { installationId } from './installation.ts';
import {
  createNumber,
  deleteNumber,
  findInbound,
  getNumber,
  listNumbers,
  setDefaultCaller,
  updateNumber,
} from './phone-numbers.ts';

export type TelephonyStore = ReturnType<typeof telephonyStore>;

export function telephonyStore(context: StoreContext) {
  return withContext(context, {
    listConfigurations,
    getConfiguration,
    listOfAccount,
    createConfiguration: insertConfiguration,
    updateConfiguration,
    deactivate: deactivateConfiguration,
    reactivate: reactivateConfiguration,
    setDefaultOutbound,
    deleteConfiguration,
    findInbound,
    installationId,
    takeDialTurn,
    listNumbers,
    getNumber,
    createNumber,
    updateNumber,
    setDefaultCaller,
    deleteNumber,
  });
}
