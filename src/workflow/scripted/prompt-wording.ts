// What the scripted policy says around the author's own words: the menu of a node and its questions.

import { type DialogueLines, fillLine } from '../engine/default-lines.ts';
import type { GraphNode } from '../graph/graph.ts';
import type { SlotHint } from '../nodes/fields.ts';
import { choicesOf, type EdgeChoice } from './edge-choices.ts';

/** More choices than this are not read out: nobody remembers them. */
const CHOICES_READ_MAX = 9;

/** Every way on: what to say for the open slot, the keys, and the phrases without a key. */
export function menuOf(lines: DialogueLines, node: GraphNode, slot: SlotHint | undefined): string {
  const choices = choicesOf(node).slice(0, CHOICES_READ_MAX);
  const keyed = choices.flatMap((choice) => {
    const { dtmf } = choice.edge;
    return dtmf === undefined
      ? []
      : [fillLine(lines.menuKey, { choice: nameOf(choice), key: keyName(dtmf) })];
  });
  const spoken = choices.filter(({ edge }) => edge.dtmf === undefined).map(nameOf);
  return [
    slot === undefined ? '' : slotLine(lines, slot),
    ...keyed,
    spoken.length === 0 ? '' : fillLine(lines.menuSay, { choices: joined(lines, spoken) }),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** How to answer for a slot. */
export function slotLine(lines: DialogueLines, slot: SlotHint): string {
  if (slot.type !== undefined) return lines.slots[slot.type];
  const values = (slot.choices ?? []).slice(0, CHOICES_READ_MAX);
  return fillLine(lines.menuSay, { choices: joined(lines, values) });
}

/** A choice in the caller's words. */
export function nameOf({ edge, phrases }: EdgeChoice): string {
  return phrases[0] ?? edge.label;
}

function joined(lines: DialogueLines, values: readonly string[]): string {
  if (values.length < 2) return values.join('');
  return `${values.slice(0, -1).join(', ')} ${lines.or} ${values.at(-1)}`;
}

function keyName(key: string): string {
  if (key === '#') return 'pound';
  return key === '*' ? 'star' : key;
}
