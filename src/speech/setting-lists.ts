// Numbers the different service lists among the nodes of one agent: nodes with equal lists share what is made from
// them.

import { NODE_SERVICES_MAX } from '../model/speech-services/node-services.ts';

export class SettingLists<Settings> {
  readonly all: (readonly Settings[])[] = [];
  /** Number of nodes whose list exceeded the maximum. */
  refused = 0;
  /** List numbers by the lists' JSON (which contains keys). */
  readonly #known = new Map<string, number>();

  /** Returns the number of the list, or 0 (that of the first node) beyond the maximum. */
  add(list: readonly Settings[]): number {
    const key = JSON.stringify(list);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.all.length >= NODE_SERVICES_MAX) {
      this.refused += 1;
      return 0;
    }
    this.#known.set(key, this.all.length);
    return this.all.push(list) - 1;
  }
}
