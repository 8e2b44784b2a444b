// The different lists of services among the nodes of one agent: a node whose list is known shares what was made of it.

import { NODE_SERVICES_MAX } from '../model/speech-services/node-services.ts';

export class SettingLists<Settings> {
  readonly all: (readonly Settings[])[] = [];
  /** Nodes whose list is one too many. */
  refused = 0;
  /** By their JSON, which has keys in it. */
  readonly #known = new Map<string, number>();

  /** The number of the list; 0, that of the first node, where there are too many. */
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
