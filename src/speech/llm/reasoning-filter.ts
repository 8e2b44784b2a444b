// Removes a model's inline reasoning from its answer: a `<think>` block at the start of the text, as open-weight
// models write it where the server does not separate it. Reasoning in fields of its own does not reach this filter.

export interface ReasoningFilter {
  /** Returns the new part of the text that may be spoken. */
  push(delta: string): string;
  end(): string;
}

const OPENING = '<think>';
const CLOSING = '</think>';

export function createReasoningFilter(): ReasoningFilter {
  let state: 'opening' | 'thinking' | 'between' | 'speaking' = 'opening';
  let held = '';

  function open(): string {
    const start = held.trimStart();
    if (start.startsWith(OPENING)) {
      state = 'thinking';
      held = start.slice(OPENING.length);
      return think();
    }
    if (OPENING.startsWith(start)) return '';
    return speak();
  }

  function think(): string {
    const end = held.indexOf(CLOSING);
    if (end < 0) {
      held = held.slice(-CLOSING.length);
      return '';
    }
    state = 'between';
    held = held.slice(end + CLOSING.length);
    return resume();
  }

  function resume(): string {
    held = held.trimStart();
    return held === '' ? '' : speak();
  }

  function speak(): string {
    state = 'speaking';
    const text = held;
    held = '';
    return text;
  }

  return {
    push(delta) {
      if (state === 'speaking') return delta;
      held += delta;
      if (state === 'opening') return open();
      return state === 'thinking' ? think() : resume();
    },
    end: () => (state === 'opening' ? speak() : ''),
  };
}
