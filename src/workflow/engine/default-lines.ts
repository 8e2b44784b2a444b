// The engine's own lines, for moments without words of the author or the model. An operator may replace each line.

import type { SlotType } from '../../model/expected-input.ts';

export interface DialogueLines {
  /** Said when the model or the recogniser returned nothing. */
  sayAgain: string;
  /** Said when the model failed once. */
  trouble: string;
  /** Said when a tool has worked and the model has nothing to say about it. */
  anythingElse: string;
  /** Said when the model or its content filter refused the caller's words. */
  cannotDiscuss: string;
  /** Said when the agent failed again, before the call ends. */
  apology: string;
  /** Said when the agent failed again, before the caller is connected with a person. */
  handOver: string;
  /** Said when the caller has waited for two seconds, one line at a time in turn. */
  oneMoment: readonly string[];
  /** Said when the caller continues to wait. */
  stillWorking: string;
  /** Said when the parties could not communicate for a while. */
  lineRestored: string;
  areYouThere: string;
  /** Said when the caller has asked the agent to wait. */
  waiting: string;
  /** Said when the agent has waited for a while, or the caller asks whether it is there. */
  stillHere: string;
  /** Said when the caller was not understood for the second time in a row. */
  sayOtherwise: string;
  /** The same where keys are expected too. */
  sayOtherwiseOrKeys: string;
  /** Said when the caller was not understood for the third time in a row. */
  speakClearly: string;
  /** Said when speech recognition has failed for good. */
  keysOnly: string;
  goodbye: string;
  notUnderstood: string;
  /** Said when the caller was not understood several times, before the call ends. */
  givingUp: string;
  noOperator: string;
  /** Said when the call is about to reach its longest duration. */
  endingSoon: string;
  confirmGoodbye: string;
  /** Asks for a confirmation. `{value}` is the recognised value. */
  confirm: string;
  /** One choice of a menu by key, with `{choice}` and `{key}`. */
  menuKey: string;
  /** The choices of a menu by voice, with `{choices}`. */
  menuSay: string;
  /** Word that joins the last two of `{choices}`. */
  or: string;
  yesNoKeys: string;
  slots: Record<SlotType, string>;
}

export const ENGLISH_LINES: DialogueLines = {
  sayAgain: 'Sorry, could you say that again, please?',
  trouble: "I'm sorry, I'm having some trouble just now. Could you say that again, please?",
  anythingElse: 'Is there anything else I can do for you?',
  cannotDiscuss: "I'm sorry, I can't talk about that. What else can I do for you?",
  apology: "I'm sorry, I can't go on with this call because of a technical problem. Goodbye.",
  handOver: "I'm sorry, I have a technical problem. I'll connect you with somebody who can help.",
  oneMoment: ['One moment, please.', 'Just a moment.', 'Let me see.'],
  stillWorking: "Thank you for waiting. I'm still working on it.",
  lineRestored: 'Sorry, the line was interrupted.',
  areYouThere: 'Are you still there?',
  waiting: 'Of course, take your time.',
  stillHere: "I'm still here.",
  sayOtherwise: "Sorry, I still didn't understand you. Please say it in other words.",
  sayOtherwiseOrKeys:
    "Sorry, I still didn't understand you. Please say it in other words, or use the keys of your telephone.",
  speakClearly: "I'm sorry, the line seems to be bad. Please speak slowly and clearly.",
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
