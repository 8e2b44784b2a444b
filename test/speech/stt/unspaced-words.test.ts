// Recognised words of languages without spaces: joined with spaces, and the whole of a message as one word.

import { describe, expect, it } from 'vitest';
import { resultsIn } from '../../../src/speech/stt/described/described-results.ts';
import { OpenWords } from '../../../src/speech/stt/fallback/open-words.ts';
import { joinWords } from '../../../src/speech/stt/joined-words.ts';
import { wordsOfAnswer } from '../../../src/speech/stt/openai-transcription/transcript-answer.ts';
import { sttPresets } from '../../fakes/described/presets.ts';

const said = (text: string) => ({ text, confidence: null });

/** Words of half a second each. */
const timed = (...words: string[]) =>
  words.map((word, at) => ({ word, startMs: at * 500, endMs: at * 500 + 400 }));

describe('recognised words without spaces', () => {
  it('have none between two finals in Chinese and Japanese', () => {
    expect(joinWords([said('我想预订。'), said('明天的')]).text).toBe('我想预订。明天的');
    expect(joinWords([said('はい'), said('OK'), said('です')]).text).toBe('はい OK です');
    expect(joinWords([said('สวัสดีครับ'), said('ผม')]).text).toBe('สวัสดีครับ ผม');
  });

  it('have none between the words of a session that is over', () => {
    const words = new OpenWords();
    const session = { lagSamples: 0 };
    words.partial({ ...said('我想预订'), words: timed('我', '想', '预订') }, session);
    words.renew(900);
    words.partial({ ...said('房间'), words: timed('房间') }, session);
    expect(words.final(said('预订房间'), true).text).toBe('我想预订房间');
    const thai = new OpenWords();
    thai.partial({ ...said('ผมอยาก'), words: timed('ผม', 'อยาก') }, session);
    thai.renew(2_000);
    expect(thai.final(said(''), true).text).toBe('ผมอยาก');
  });

  it('are one for each token of a service that has no spaces in them', () => {
    const token = (text: string, start: number) => ({
      text,
      start_ms: start,
      end_ms: start + 90,
      is_final: true,
      confidence: 0.9,
    });
    const message = (...texts: string[]) => ({
      tokens: texts.map((text, at) => token(text, at * 100)),
    });
    const wordsIn = (...texts: string[]) =>
      resultsIn(message(...texts), sttPresets.soniox).final?.words?.map(({ word }) => word);
    expect(wordsIn('我', '想', '预订', '，', 'OK', '吗')).toEqual([
      '我',
      '想',
      '预订，',
      'OK',
      '吗',
    ]);
    expect(wordsIn('สวัส', 'ดี', 'ครับ')).toEqual(['สวัส', 'ดี', 'ครับ']);
    expect(wordsIn(' can', 'cel', ' my', ' order', '.')).toEqual(['cancel', 'my', 'order.']);
  });

  it('are nothing of the caller where they repeat the prompt', () => {
    const spoken = { startMs: 0, voiceMs: 2_000, prompt: '这是一家酒店的客服电话。' };
    expect(wordsOfAnswer({ text: '这是一家酒店的客服电话' }, spoken)?.text).toBe('');
    expect(wordsOfAnswer({ text: '酒店' }, { ...spoken, prompt: '酒店' })?.text).toBe('酒店');
  });

  it('have none between the segments of an answer', () => {
    const segment = (text: string, none: number) => ({
      text,
      no_speech_prob: none,
      avg_logprob: none > 0.5 ? -2 : -0.1,
    });
    const segments = [segment('我想预订。', 0), segment('谢谢观看', 0.9), segment('两个人', 0)];
    const spoken = { startMs: 0, voiceMs: 2_000, prompt: '' };
    expect(wordsOfAnswer({ text: 'any', segments }, spoken)?.text).toBe('我想预订。两个人');
  });
});
