// The engine's own lines, for moments without words of the author or the model. An operator may replace each of
// them, for another language or another tone.

import type { SlotType } from '../../model/expected-input.ts';

export interface DialogueLines {
  /** The model or the recogniser returned nothing. */
  sayAgain: string;
  /** The model failed once. */
  trouble: string;
  /** The agent failed again: the call ends. */
  apology: string;
  /** The agent failed again: the caller is connected with a person. */
  handOver: string;
  /** The caller has waited for two seconds; one of them, in turn. */
  oneMoment: readonly string[];
  /** They go on waiting. */
  stillWorking: string;
  /** The line was dead for a while. */
  lineRestored: string;
  areYouThere: string;
  /** The caller has asked the agent to wait. */
  waiting: string;
  /** The agent has waited for a while, or the caller asks whether it is there. */
  stillHere: string;
  /** The caller was not understood for the second time. */
  sayOtherwise: string;
  /** Speech recognition has failed for good. */
  keysOnly: string;
  goodbye: string;
  notUnderstood: string;
  /** The caller was not understood several times: the call ends. */
  givingUp: string;
  noOperator: string;
  /** The call is about to reach its longest duration. */
  endingSoon: string;
  confirmGoodbye: string;
  /** `{value}` is the recognised value. */
  confirm: string;
  /** `{choice}` and `{key}`. */
  menuKey: string;
  /** `{choices}`. */
  menuSay: string;
  /** `{choices}` is joined with this word. */
  or: string;
  yesNoKeys: string;
  slots: Record<SlotType, string>;
}

export const ENGLISH_LINES: DialogueLines = {
  sayAgain: 'Sorry, could you say that again, please?',
  trouble: "I'm sorry, I'm having some trouble just now. Could you say that again, please?",
  apology: "I'm sorry, I can't go on with this call because of a technical problem. Goodbye.",
  handOver: "I'm sorry, I have a technical problem. I'll connect you with somebody who can help.",
  oneMoment: ['One moment, please.', 'Just a moment.', 'Let me see.'],
  stillWorking: "Thank you for waiting. I'm still working on it.",
  lineRestored: 'Sorry, the line was interrupted.',
  areYouThere: 'Are you still there?',
  waiting: 'Of course, take your time.',
  stillHere: "I'm still here.",
  sayOtherwise:
    "Sorry, I still didn't understand you. Please say it in other words, or use the keys of your telephone.",
  keysOnly:
    "I'm sorry, I can't understand speech at the moment. Please use the keys of your telephone.",
  goodbye: 'Thank you for your time. Goodbye.',
  notUnderstood: "Sorry, I didn't understand that.",
  givingUp: "I'm sorry, I couldn't understand you. Please call again later. Goodbye.",
  noOperator: "I'm sorry, I can't connect you to a person.",
  endingSoon: 'Our time is almost up: this call will end shortly.',
  confirmGoodbye: 'Do you want to end the call?',
  confirm: 'I understood {value}. Is that right?',
  menuKey: 'For {choice}, press {key}.',
  menuSay: 'You can say {choices}.',
  or: 'or',
  yesNoKeys: 'Please say yes or no, or press 1 for yes and 2 for no.',
  slots: {
    yes_no: 'Please say yes or no.',
    digit: 'Please say one digit, or press its key.',
    digits: 'Please say the digits one by one, or enter them with the keys and then press pound.',
    number: 'Please say a number.',
    date: 'Please say a day and a month, such as the third of May.',
    time: 'Please say a time, such as half past two.',
    weekday: 'Please say a day of the week.',
    money: 'Please say an amount of money.',
    spelling: 'Please spell it, letter by letter.',
  },
};

/** Fills `{name}` in a line. Unknown names stay unchanged. */
export function fillLine(line: string, values: Record<string, string>): string {
  return line.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}
