import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FilterMode,
  UnspokenFilter,
} from '../../../../src/speech/llm/client/unspoken-text.ts';
import { rounds } from '../../../rounds.ts';

const FUNCTIONS = ['end_call', 'finish'];

function spoken(deltas: string[], mode?: FilterMode): string {
  const filter = new UnspokenFilter(mode, FUNCTIONS);
  return deltas.map((delta) => filter.push(delta)).join('') + filter.end();
}

/** The text in two pieces, cut at every place. */
function cuts(text: string): string[][] {
  return Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)]);
}

const CASES: [string, string][] = [
  ['<think>The caller is angry.</think>\n\nI am sorry.', 'I am sorry.'],
  ['\n<think>\n</think>\n\nHello.', '\nHello.'],
  ['One moment. <thinking>Which day?</thinking> Monday?', 'One moment. Monday?'],
  ['<thinking>Hm</thinking>Hi.', 'Hi.'],
  ['<THINK>Hm</think>Hi.', 'Hi.'],
  ['Hello <think> never ends', 'Hello '],
  ['rest of it</think>Hi.', 'rest of itHi.'],
  ['[THINK]Hm [x][/THINK]Hi.', 'Hi.'],
  ['Bye. <tool_call>{"name": "end_call", "arguments": {}}</tool_call>', 'Bye. '],
  ['<function=end_call>{"a": "}"}</function>Bye.', 'Bye.'],
  [
    '<function_calls><invoke name="x"><parameter name="y">1</parameter></invoke></function_calls>',
    '',
  ],
  ['Bye. {"name": "end_call", "arguments": {"why": "a \\"b\\" }"}} See you.', 'Bye. See you.'],
  ["{'name': 'end_call', 'arguments': {'a': \"it's\"}} Bye.", 'Bye.'],
  ['[{"name": "a"}, {"name": "b"}] Bye.', 'Bye.'],
  ['{\n  "name": "it\'s"\n}\nBye.', 'Bye.'],
  ['{"name": "never ends', ''],
  ['[TOOL_CALLS][{"name": "a"}] rest', ''],
  ['```json\n{"a": 1}\n```\nBye.', 'Bye.'],
  ['```tool_code\nprint(end_call())\n```Bye.', 'Bye.'],
  ['```\nHello.\n```', 'Hello.\n'],
  ['Say `hello` twice.', 'Say `hello` twice.'],
  ['Hi.<|im_end|>', 'Hi.'],
  [
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.',
    'Hi.',
  ],
  ['<|start_header_id|>assistant<|end_header_id|>\n\nHi.', 'Hi.'],
  ['<|python_tag|>end_call()', ''],
  ['Hi.<｜tool▁calls▁begin｜>end_call{}<｜tool▁calls▁end｜>', 'Hi.'],
  [
    'Bye.<｜DSML｜function_calls>\n<｜DSML｜invoke name="end_call">\n<｜DSML｜parameter name="a" string="true">b</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls> Hi.',
    'Bye. Hi.',
  ],
  ['<｜DSML｜tool_calls><｜DSML｜invoke name="a">', ''],
  ['<||DSML||invoke name="a">{"a": 1}<||DSML||invoke>Hi.', 'Hi.'],
  ['</｜DSML｜parameter>Hi.<｜DSML｜invo', 'Hi.'],
  ['<|channel>thought\nThe caller is angry.<channel|>Hi.<turn|>', 'Hi.'],
  ['<|turn>model\nHi.', 'Hi.'],
  ['Bye.<|tool_call>call:end_call{reason:<|"|>done<|"|>}<tool_call|> Hi.', 'Bye. Hi.'],
  ['<|tool_call>call:end_call{}', ''],
  ['Bye.</|invoke> Hi.', 'Bye. Hi.'],
  ['<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>', 'Hi.'],
  ['<|START_ACTION|>[{"tool_name": "end_call"}]<|END_ACTION|>Hi.', 'Hi.'],
  ['end_call{"reason": "done"} Bye.', 'Bye.'],
  ['Bye. functions.end_call{}', 'Bye. '],
  ['a <| b, <|y or z <a|b, {end_call}', 'a <| b, <|y or z <a|b, {end_call}'],
  ['<b>Bold</b> and <i class="x">slanted</i>', 'Bold and slanted'],
  ['One<br>two<br/> three', 'One two three'],
  ['Hello <Name>, hi<!-- a note -->.', 'Hello , hi.'],
  ['Is 3 < 5 or 5 > 3? <3', 'Is 3 < 5 or 5 > 3? <3'],
  ['<thin air', '<thin air'],
  ['a [note] {x} `', 'a [note] {x} `'],
  ['Bye. end_call(reason="it\'s (over)", n=[1, 2]) See you.', 'Bye. See you.'],
  ['functions.end_call({"a": {"b": ")"}}) Bye.', 'Bye.'],
  ['Bye.finish() See you.', 'Bye. See you.'],
  ['Bye.\n\nend_call()', 'Bye.\n\n'],
  ['end_call(', ''],
  ['end_call(s', ''],
  [
    'All call(s) finish. Your finish(s) were made.',
    'All call(s) finish. Your finish(s) were made.',
  ],
  ["end_call(reason=it's done). Good bye.", '. Good bye.'],
  [
    'We finish (on Monday), other_call(9), my_end_call(9) and end_call.',
    'We finish (on Monday), other_call(9), my_end_call(9) and end_call.',
  ],
  [`so <｜DSML｜${'x'.repeat(260)}>`, `so <｜DSML｜${'x'.repeat(260)}>`],
  ['so <tool_ca', 'so '],
  ['so <|im_e', 'so '],
  ['', ''],
];

describe('what is no speech', () => {
  it.each(CASES)('%j is spoken as %j, wherever it is cut', (text, expected) => {
    expect(spoken([text])).toBe(expected);
    expect(spoken([...text])).toBe(expected);
    for (const cut of cuts(text)) expect(spoken(cut), JSON.stringify(cut)).toBe(expected);
  });

  it('is the same however a text is cut', () => {
    const piece = fc.constantFrom(
      ...['<', '>', '/', '</', 'think', '<think>', '</think>', '<tool_call>', '</tool_call>', '|'],
      ...['{', '}', '"', "'", '\\', '[', ']', '{"', '"}', '`', '```', 'json', '\n', ' ', '=', '-'],
      ...[
        'a',
        'Hi. ',
        '<|',
        '|>',
        'final<|message|>',
        '<|channel|>',
        '<|channel>',
        '<channel|>',
        '<｜DSML｜',
        'invoke>',
        'end_call',
        '<!--',
        '-->',
        'name',
        '<b a="',
      ],
      ...['[TOOL_CALLS]', '[THINK]', '[/THINK]', '😀', 'é', '<br', 'x'.repeat(130)],
    );
    const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));
    const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
    fc.assert(
      fc.property(
        text,
        places,
        fc.constantFrom('speech' as const, 'json' as const),
        (whole, at, mode) => {
          const marks = at.map((each) => Math.floor(each * whole.length)).sort((a, b) => a - b);
          const deltas = [...marks, whole.length].map((to, i) =>
            whole.slice(marks[i - 1] ?? 0, to),
          );
          const expected = spoken([whole], mode);
          expect(spoken(deltas, mode)).toBe(expected);
          expect(spoken(whole.split(''), mode)).toBe(expected);
        },
      ),
      { numRuns: rounds(1_000) },
    );
  });

  it('passes text at once that is speech', () => {
    const filter = new UnspokenFilter('speech', FUNCTIONS);
    const deltas = ['Hel', 'lo, is 3 <', ' 5? ', 'Yes', ' en', 'ough'];
    expect(deltas.map((delta) => filter.push(delta))).toEqual([
      'Hel',
      'lo, is 3 ',
      '< 5? ',
      'Yes',
      ' ',
      'enough',
    ]);
  });

  it('never changes text without brackets and backticks', () => {
    const text = fc.string().map((each) => each.replace(/[<{[`(]/g, ''));
    fc.assert(
      fc.property(text, (whole) => {
        expect(spoken(whole.split(''))).toBe(whole);
      }),
    );
  });

  it('keeps objects and tags where an object is the answer, and removes reasoning', () => {
    const answer = '{"name": "<b>Ana</b>", "x": "`[<|y|>"}';
    expect(spoken([`<think>{}</think>${answer}`], 'json')).toBe(answer);
  });

  it('notes a tool call that leaked, and nothing else', () => {
    const leaked = (text: string) => {
      const filter = new UnspokenFilter('speech', FUNCTIONS);
      filter.push(text);
      return filter.leakedTool;
    };
    const leaks = ['{"name": 1}', '<tool_call>', '<|python_tag|>', '```json\n', 'end_call(x)'];
    expect(leaks.map(leaked)).toEqual(leaks.map(() => true));
    expect(['<think>', 'Hi <b>', '<|im_end|>', ''].map(leaked)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('takes no longer than its length for repeated beginnings', () => {
    const nasty = ['<a ', '<a b=', '{ ', '[ ', '``', '<|', '<!--', '<think', ' ', '<a  b  '];
    for (const each of nasty) {
      const text = each.repeat(20_000 / each.length);
      expect(spoken(text.match(/[\s\S]{1,7}/g) ?? []).length).toBeLessThanOrEqual(text.length);
    }
  });
});
