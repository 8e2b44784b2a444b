// What whisper models invent, and what callers say. Source: https://github.com/openai/whisper/discussions/928, 2608.

import { expect, it } from 'vitest';
import { wordsOfAnswer } from '../../../../src/speech/stt/openai-transcription/transcript-answer.ts';

const heard = (text: string, voiceMs: number): string | undefined =>
  wordsOfAnswer({ text }, { startMs: 0, voiceMs, prompt: '' })?.text;

it.each([
  'Thank you for watching!',
  'Subtitles by the Amara.org community',
  'Untertitelung des ZDF für funk, 2017',
  'Vielen Dank fürs Zuschauen!',
  "Vielen Dank für's Zuschauen!",
  'Copyright WDR 2021',
  'Subtítulos realizados por la comunidad de Amara.org',
  '¡Gracias por ver el video!',
  '¡Suscríbete al canal!',
  "Sous-titrage ST' 501",
  "Merci d'avoir regardé cette vidéo !",
  'Sottotitoli e revisione a cura di QTSS',
  'Legendas pela comunidade Amara.org',
  'Ondertitels ingediend door de Amara.org gemeenschap',
  'Napisy stworzone przez społeczność Amara.org',
  'Субтитры сделал DimaTorzok',
  'Редактор субтитров А.Синецкая Корректор А.Егорова',
  'Продолжение следует...',
  'Altyazı M.K.',
  'İzlediğiniz için teşekkür ederim.',
  'ترجمة نانسي قنقر',
  'اشتركوا في القناة',
  'ご視聴ありがとうございました',
  'チャンネル登録をお願いいたします',
  '字幕by索兰娅',
  '字幕由 Amara.org 社区提供',
  '请不吝点赞 订阅 转发 打赏支持明镜与点点栏目',
  '谢谢观看',
  '感謝您的觀看。',
  '시청해 주셔서 감사합니다.',
  '구독과 좋아요 부탁드립니다.',
])('a short voice is not heard as %s, and a longer one is', (text) => {
  expect([heard(text, 700), heard(text, 1_000)]).toEqual(['', text]);
});

it.each([
  ...[
    'Thank you.',
    'Vielen Dank.',
    'Gracias.',
    'Merci.',
    'Obrigado.',
    'Спасибо.',
    'شكرا',
    '谢谢。',
  ],
  ...[
    'ありがとうございました。',
    '감사합니다.',
    'Teşekkürler.',
    '字幕',
    'Sottotitoli',
    'Legendas',
    'Napisy',
  ],
  ...[
    'Altyazı',
    'Субтитры',
    'Bis morgen',
    'Tschüss',
    'Abonné',
    'Copyright',
    'WDR',
    '看',
    'お願いします',
  ],
])('a short %s is heard', (text) => {
  expect(heard(text, 400)).toBe(text);
});
