// Filters the unspeakable parts from a model's text while it streams: reasoning (`<think>`), tool calls that leaked
// into the text (`<tool_call>`, `<function=…>`, `{"name":…}`, `end_call(…)`, `end_call{…}`), special tokens, tags, code
// blocks. Other text passes at once; a piece that may begin such a part is held until that is decided. The result does
// not depend on how the text is cut. Markdown and emoji stay: speech/tts/plain-speech removes those.

/** speech: removes everything unspeakable. json: removes only reasoning, since the answer is an object. */
export type FilterMode = 'speech' | 'json';

/** Longest tag. Anything longer is text. */
const TAG_CHARS_MAX = 256;
/** Longest first line of a code block. Anything longer is text. */
const INFO_CHARS_MAX = 40;
/** Prefixes of function names that models know from their training data. */
const NAMESPACES = ['', 'functions.', 'tools.', 'default_api.'];
/** A function's name, or the beginning of one, at the end of the text. */
const WORD_AT_END = /[\w.-]+$/;
/** Longest name with its namespace. Services allow names of 64. */
const NAME_CHARS_MAX = 80;
/** Beginning of an object or of a list of objects, with little white space. */
const OBJECT = /^(\[\s{0,10})?\{\s{0,10}["']/;
const OBJECT_BEGIN = /^(\[\s{0,10})?(\{\s{0,10})?$/;

const REASONING = new Set(
  'think thinking thought thoughts reasoning reflection scratchpad'.split(' '),
);
const TOOLS = new Set(
  'tool_call tool_calls tool_use tool_code tool_response tool_result tool_output tools toolcall function functions function_call function_calls functioncall invoke'.split(
    ' ',
  ),
);
/** Tags that are replaced by a pause. */
const PAUSES = /^(br|p|li|ul|ol|div|tr|td|h[1-6]|break|hr)$/;
/** Languages of code blocks whose content is plain text. */
const PLAIN = /^(|text|txt|plaintext|markdown|md)$/i;

const VALUE = `(?:"[^"<>]*"|'[^'<>]*'|[^<>\\s"']+)`;
const TAG = new RegExp(
  `^<(/?)([A-Za-z_][\\w:-]*)(?:=[^<>\\s]*)?(?:\\s+[\\w:-]+\\s*=\\s*${VALUE})*\\s*(/?)>`,
);
const TAG_BEGIN = new RegExp(
  `^</?(?:[A-Za-z_][\\w:-]*(?:=[^<>\\s]*)?(?:\\s+[\\w:-]+\\s*=\\s*${VALUE})*(?:\\s+(?:[\\w:-]+\\s*(?:=\\s*(?:"[^"<>]*|'[^'<>]*)?)?)?)?/?)?$`,
);
const COMMENT = /^<!--[\s\S]*?-->/;
/** Special tokens of chat templates. DeepSeek writes full-width bars. */
const TOKEN = /^<[|｜]([^<>|｜]{1,80})[|｜]>/;
const TOKEN_BEGIN = /^<[|｜][^<>|｜]{0,80}[|｜]?$/;
/** Tags with bars inside or on one side, as DeepSeek (`<｜DSML｜invoke name="…">`) and Gemma (`<|channel>`, `<channel|>`)
 *  write them. */
const BARRED = /^<(\/?)(?:[|｜]{1,2}DSML[|｜]{1,2}(\w+)[^<>]*|\|(\w+)|\w+\|)>/;
const BARRED_BEGIN =
  /^<\/?(?:[|｜]{1,2}(?:D(?:S(?:M(?:L(?:[|｜]{1,2}[^<>]*)?)?)?)?)?|\|\w+|\w+\|)$/;
/** Maps a token to the token after which speakable text continues. '': none. */
const TOKEN_ENDS = new Map([
  ['start_thinking', '<|END_THINKING|>'],
  ['start_action', '<|END_ACTION|>'],
  ['channel', 'final<|message|>'],
  ['start', 'final<|message|>'],
  ['start_header_id', '<|end_header_id|>'],
  ['im_start', '\n'],
  ['python_tag', ''],
]);
const TOOL_TOKENS = new Set(['python_tag', 'start_action']);

/** Classification of held text that begins with a trigger: `more` is needed; the trigger is plain `text`; or `take`
 *  characters are replaced by `by`, and a block may follow. */
type Finding = 'more' | 'text' | { take: number; by: string; block?: Block };

/** A block that is dropped up to `closing`, or to the end of the text if undefined. 'json': up to the closing bracket;
 *  'arguments': up to the closing parenthesis of the one already taken. */
interface Block {
  closing: RegExp | 'json' | 'arguments' | undefined;
  closingChars: number;
  isTool: boolean;
}

export class UnspokenFilter {
  #leakedTool = false;
  #held = '';
  #block: Block | undefined;
  #brackets = new BracketCount();
  /** The last character that was spoken. */
  #spoken = '';
  #afterDrop = false;
  readonly #mode: FilterMode;
  readonly #trigger: RegExp;
  /** Function names with their possible prefixes. */
  readonly #functions: readonly string[];

  /** `functions`: names of the functions that the model may call. */
  constructor(mode: FilterMode = 'speech', functions: readonly string[] = []) {
    this.#mode = mode;
    this.#trigger = mode === 'speech' ? /[<{[`(]/ : /</;
    this.#functions =
      mode === 'json' ? [] : functions.flatMap((name) => NAMESPACES.map((space) => space + name));
  }

  /** Whether the text contained a tool call. */
  get leakedTool(): boolean {
    return this.#leakedTool;
  }

  /** Returns the new part of the text that may be spoken. */
  push(delta: string): string {
    this.#held += delta;
    return this.#drain(false);
  }

  end(): string {
    const out = this.#drain(true);
    this.#held = '';
    return out;
  }

  #drain(ended: boolean): string {
    let out = '';
    while (this.#held !== '') {
      if (this.#block !== undefined && !this.#skipBlock(this.#block)) break;
      this.#block = undefined;
      out += this.#passText(ended);
      const finding = this.#find(ended);
      if (finding === 'more') break;
      out += finding === 'text' ? this.#passTrigger() : this.#drop(finding);
    }
    return out;
  }

  /** Skips the held part of a block. Returns whether the block ended in it. */
  #skipBlock({ closing, closingChars }: Block): boolean {
    const held = this.#held;
    if (closing === 'json' || closing === 'arguments') {
      const end = this.#brackets.push(held);
      this.#held = end < 0 ? '' : held.slice(end);
      return end >= 0;
    }
    const found = closing?.exec(held);
    if (!found) {
      this.#held = closingChars < 2 ? '' : held.slice(-(closingChars - 1));
      return false;
    }
    this.#held = held.slice(found.index + found[0].length);
    return true;
  }

  /** Passes text up to the next trigger, or to a function's name before it. */
  #passText(ended: boolean): string {
    const held = this.#held;
    const at = held.search(this.#trigger);
    if (at < 0) return this.#pass(held.length - (ended ? 0 : this.#nameAtEnd(held, true)));
    const isCall = held[at] === '(' || held[at] === '{';
    return this.#pass(at - (isCall ? this.#nameAtEnd(held.slice(0, at), false) : 0));
  }

  /** Length of the function's name, or of the beginning of one, at the end of the text. */
  #nameAtEnd(text: string, mayGoOn: boolean): number {
    if (this.#functions.length === 0) return 0;
    const end = text.slice(-NAME_CHARS_MAX);
    const [word = ''] = WORD_AT_END.exec(end) ?? [];
    const isCut = word.length === end.length && (end !== text || /[\w-]/.test(this.#spoken));
    // The preceding sentence may end without a space.
    const begins = [...word.matchAll(/(?:^|(?<=\.))[\w-]/g)].map(({ index }) => index);
    const begin = begins.find((from) => {
      if (from === 0 && isCut) return false;
      const name = word.slice(from);
      return this.#functions.some((each) => (mayGoOn ? each.startsWith(name) : each === name));
    });
    return begin === undefined ? 0 : word.length - begin;
  }

  #find(ended: boolean): Finding {
    const held = this.#held;
    if (held === '') return 'more';
    if (!/^[\w.(-]/.test(held)) return find(held, this.#mode, ended);
    const at = held.search(/[({]/);
    if (at <= 0) return at === 0 ? 'text' : 'more';
    if (held[at] === '{') {
      return { take: at, by: '', block: { closing: 'json', closingChars: 0, isTool: true } };
    }
    // A plural such as "your transfer(s)".
    const next = held.slice(at + 1, at + 3);
    if (next === 's)') return 'text';
    if ('s)'.startsWith(next) && !ended) return 'more';
    const block: Block = { closing: 'arguments', closingChars: 0, isTool: true };
    return { take: at + 1, by: '', block };
  }

  #passTrigger(): string {
    return this.#pass(1);
  }

  #pass(characters: number): string {
    const text = this.#held.slice(0, characters);
    this.#held = this.#held.slice(characters);
    return this.#say(text);
  }

  #drop({ take, by, block }: Exclude<Finding, string>): string {
    this.#held = this.#held.slice(take);
    this.#block = block;
    this.#brackets = new BracketCount(block?.closing === 'arguments' ? 1 : 0);
    this.#leakedTool ||= block?.isTool ?? false;
    const said = this.#say(by);
    this.#afterDrop = true;
    return said;
  }

  /** Emits text. White space around a dropped block is kept once, and not at the beginning. */
  #say(text: string): string {
    const lone = this.#afterDrop && (this.#spoken === '' || /\s$/.test(this.#spoken));
    const said = lone ? text.trimStart() : text;
    if (said === '') return '';
    this.#afterDrop = false;
    this.#spoken = said.slice(-1);
    return said;
  }
}

function find(held: string, mode: FilterMode, ended: boolean): Finding {
  const more = ended ? 'text' : 'more';
  if (held.startsWith('<')) return findTag(held, mode, more);
  if (held.startsWith('`')) return findCode(held, ended);
  return findObject(held, more);
}

function findTag(held: string, mode: FilterMode, more: 'more' | 'text'): Finding {
  const whole = wholeTag(held, mode);
  if (whole !== undefined) return whole;
  if (held.length > TAG_CHARS_MAX) return 'text';
  const isToken = TOKEN_BEGIN.test(held) || BARRED_BEGIN.test(held);
  if (isToken || (TAG_BEGIN.test(held) && isCutBlock(held))) {
    return more === 'more' ? more : { take: held.length, by: '' };
  }
  return TAG_BEGIN.test(held) || '<!--'.startsWith(held.slice(0, 4)) ? more : 'text';
}

function wholeTag(held: string, mode: FilterMode): Finding | undefined {
  const tag = TAG.exec(held);
  if (tag !== null) return tag[0].length > TAG_CHARS_MAX ? 'text' : ofTag(tag, mode);
  const token = TOKEN.exec(held);
  const barred = BARRED.exec(held);
  const comment = COMMENT.exec(held)?.[0];
  if (token === null && barred === null && comment === undefined) return undefined;
  if (mode === 'json') return 'text';
  if (token !== null) return ofToken(token);
  if (barred !== null) return barred[0].length > TAG_CHARS_MAX ? 'text' : ofBarredTag(barred);
  const take = comment?.length ?? 0;
  return take > TAG_CHARS_MAX ? 'text' : { take, by: '' };
}

/** Whether the text ends within the tag of a block. */
function isCutBlock(held: string): boolean {
  const name = plainName(/^<\/?([\w:-]+)/.exec(held)?.[1] ?? '');
  const isWhole = !/^<\/?[\w:-]+$/.test(held);
  const names = [...REASONING, ...TOOLS];
  return names.some((each) => (isWhole ? each === name : name.length > 2 && each.startsWith(name)));
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/^[\w-]+:/, '');
}

function ofTag(tag: RegExpExecArray, mode: FilterMode): Finding {
  const [whole, slash, given = '', selfClosed] = tag;
  const name = plainName(given);
  const isTool = TOOLS.has(name);
  if (mode === 'json' && !REASONING.has(name)) return 'text';
  const finding = { take: whole.length, by: PAUSES.test(name) ? ' ' : '' };
  if (slash !== '' || selfClosed !== '' || !(isTool || REASONING.has(name))) return finding;
  return { ...finding, block: untilText(`</${given}>`, isTool) };
}

function ofToken([whole, given = '']: RegExpExecArray): Finding {
  const name = given.trim().toLowerCase();
  const finding = { take: whole.length, by: '' };
  const begin = /^(.*[_▁])begin$/.exec(name);
  if (begin !== null) return { ...finding, block: untilText(whole.replace(/begin/i, 'end'), true) };
  const closing = TOKEN_ENDS.get(name);
  return closing === undefined
    ? finding
    : { ...finding, block: untilText(closing, TOOL_TOKENS.has(name)) };
}

/** The block of such a tag ends with the same name. */
function ofBarredTag([whole, slash, ofDeepSeek = '', ofGemma = '']: RegExpExecArray): Finding {
  const finding = { take: whole.length, by: '' };
  const isTool = TOOLS.has(ofDeepSeek || ofGemma);
  if (slash !== '' || !(isTool || ofGemma === 'channel')) {
    // The role whose turn begins follows the tag.
    return ofGemma === 'turn' ? { ...finding, block: untilText('\n', false) } : finding;
  }
  if (ofGemma !== '') return { ...finding, block: untilText(`<${ofGemma}|>`, isTool) };
  // Models sometimes write the closing tag without its slash.
  const closing = new RegExp(`</?[|｜]{1,2}DSML[|｜]{1,2}${ofDeepSeek}>`);
  return { ...finding, block: { closing, closingChars: ofDeepSeek.length + 11, isTool } };
}

function untilText(text: string, isTool: boolean): Block {
  if (text === '') return { closing: undefined, closingChars: 0, isTool };
  const closing = new RegExp(text.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&'), 'i');
  return { closing, closingChars: text.length, isTool };
}

/** Finds a code block. Its content is spoken if it is plain text. */
function findCode(held: string, ended: boolean): Finding {
  const [ticks = ''] = /^`+/.exec(held) ?? [];
  if (ticks.length < 3) return ticks.length === held.length && !ended ? 'more' : 'text';
  const line = /^`{3,}([^\n`]*)(\n|`)?/.exec(held);
  const info = line?.[1] ?? '';
  if (info.length > INFO_CHARS_MAX) return { take: ticks.length, by: '' };
  if (line?.[2] === undefined && !ended) return 'more';
  if (line?.[2] !== '\n') return { take: ticks.length, by: '' };
  const finding = { take: line[0].length, by: '' };
  return PLAIN.test(info.trim())
    ? finding
    : { ...finding, block: untilText('```', /tool|json/i.test(info)) };
}

/** Finds an object, a list of objects, or a marker in square brackets. */
function findObject(held: string, more: 'more' | 'text'): Finding {
  if (OBJECT.test(held)) {
    return { take: 0, by: '', block: { closing: 'json', closingChars: 0, isTool: true } };
  }
  if (OBJECT_BEGIN.test(held)) return more;
  if (held.startsWith('[TOOL_CALLS]')) {
    return { take: '[TOOL_CALLS]'.length, by: '', block: untilText('', true) };
  }
  if (held.startsWith('[THINK]')) {
    return { take: '[THINK]'.length, by: '', block: untilText('[/THINK]', false) };
  }
  if (['[TOOL_CALLS]', '[THINK]'].some((marker) => marker.startsWith(held))) return more;
  return 'text';
}

/** Finds the end of an object, or of a function's arguments. */
class BracketCount {
  #depth: number;
  readonly #opening: RegExp;
  readonly #closing: RegExp;
  #quote = '';
  #escaped = false;
  /** The kind of quotes seen first. Python objects use both kinds; in JSON an apostrophe is text. */
  #quotes = '';
  /** The previous character outside of quotes. */
  #before = '';

  /** `depth`: parentheses that are already open. */
  constructor(depth = 0) {
    this.#depth = depth;
    this.#opening = depth === 0 ? /[{[]/ : /[{[(]/;
    this.#closing = depth === 0 ? /[}\]]/ : /[}\])]/;
  }

  /** Returns the index after the last bracket, or -1 if the object does not end in the text so far. */
  push(text: string): number {
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? '';
      if (this.#quote !== '') this.#takeQuoted(char);
      else if (this.#take(char)) return at + 1;
    }
    return -1;
  }

  #takeQuoted(char: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (char === '\\') this.#escaped = true;
    else if (char === this.#quote) this.#quote = '';
  }

  /** Counts one character. Returns whether the last bracket is closed. */
  #take(char: string): boolean {
    // After a letter, it is an apostrophe.
    const isQuote = char === "'" && this.#quotes !== '"' && !/[\p{L}\p{N}]/u.test(this.#before);
    this.#before = char;
    if (char === '"' || isQuote) {
      this.#quotes ||= char;
      this.#quote = char;
    }
    if (this.#opening.test(char)) this.#depth += 1;
    if (!this.#closing.test(char)) return false;
    this.#depth -= 1;
    return this.#depth <= 0;
  }
}
