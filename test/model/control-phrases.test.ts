import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isBackchannel,
  isBackchannelPrefix,
  isFarewell,
  isGoodbye,
  isStopWord,
  isWaitPhrase,
  plainWords,
} from '../../src/model/control-phrases.ts';

describe('phrases', () => {
  it.each(['Mhm.', 'uh-huh', 'Okay, yeah.', 'I see', 'Oh, right, okay'])(
    '%s is an acknowledgement',
    (text) => {
      expect(isBackchannel(text)).toBe(true);
    },
  );

  it.each(['', 'no', 'okay but on tuesday', 'what', 'yes please', 'mhm mhm mhm mhm mhm'])(
    '"%s" is none',
    (text) => {
      expect(isBackchannel(text)).toBe(false);
    },
  );

  it.each(['Wait!', 'No, actually Tuesday', 'hold on a bit', 'Stop.', 'Excuse me?'])(
    '%s always interrupts',
    (text) => {
      expect(isStopWord(text)).toBe(true);
    },
  );

  it.each(['', 'nothing', 'waiting', 'okay', 'i know'])('"%s" does not', (text) => {
    expect(isStopWord(text)).toBe(false);
  });

  it('finds a goodbye within a sentence', () => {
    expect(isGoodbye('Thank you, good-bye!')).toBe(true);
    expect(isGoodbye('I will buy it')).toBe(false);
  });

  it.each([
    ['okay, thank you, bye', true],
    ['Alright. Have a nice day, you too!', true],
    ['Ja danke, auf Wiederhören', true],
    ['merci, au revoir', true],
    ['好的，谢谢，再见', true],
    ['bye, oh wait, I would like to book', false],
    ['goodbye to the old plan', false],
    ['', false],
  ])('recognizes text that only takes leave: %s', (text, isLeaving) => {
    expect(isFarewell(text)).toBe(isLeaving);
  });

  it('makes plain words of any text', () => {
    expect(plainWords('  Yes — that’s RIGHT!  ')).toBe("yes that's right");
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = plainWords(text);
        expect(plainWords(plain)).toBe(plain);
        expect(typeof isBackchannel(text)).toBe('boolean');
        expect(typeof isStopWord(text)).toBe('boolean');
      }),
    );
  });

  it.each(['Sí, claro.', 'ach so', "Ah oui, d'accord", 'va bene', 'Tá bom'])(
    '%s acknowledges in whatever language',
    (text) => {
      expect(isBackchannel(text)).toBe(true);
    },
  );

  it.each(['हाँ जी', 'अच्छा, ठीक है।', 'जी', 'बहुत बढ़िया', 'haan ji', 'نعم نعم', 'طيب، تمام', 'حسناً'])(
    '%s, of languages with other letters, too',
    (text) => {
      expect([isBackchannel(text), isStopWord(text)]).toEqual([true, false]);
      expect(isBackchannel(text.normalize('NFD'))).toBe(true);
    },
  );

  it.each(['जी, मुझे कल आना है', 'ठीक से बताइए', 'नहीं', 'نعم أريد موعدا', 'لا'])(
    '%s is none',
    (text) => {
      expect(isBackchannel(text)).toBe(false);
    },
  );

  it.each([
    'रुकिए',
    'नहीं, कल नहीं',
    'एक मिनट',
    'सुनिए मेरी बात',
    'لا، يوم الأحد',
    'لحظة من فضلك',
    'انتظر',
  ])('%s always interrupts as well', (text) => {
    expect(isStopWord(text)).toBe(true);
  });

  it.each(['एक मिनट रुकिए प्लीज़', 'ज़रा रुको', 'لحظة لو سمحت'])(
    '%s asks the agent to wait too',
    (text) => {
      expect(isWaitPhrase(text)).toBe(true);
    },
  );

  it('goes by one language where that is known', () => {
    expect(isBackchannel('claro', 'es-ES')).toBe(true);
    expect(isBackchannel('claro', 'de')).toBe(false);
    expect(isBackchannel('claro', 'xx-YY')).toBe(true);
  });

  it.each(['Stop!', 'Wait a minute, please.', 'oh, hold on', 'Einen Moment bitte', 'Attendez.'])(
    '%s asks the agent to wait',
    (text) => {
      expect(isWaitPhrase(text)).toBe(true);
      expect(isStopWord(text)).toBe(true);
    },
  );

  it.each(['', 'please', 'stop my subscription', 'i can wait', 'no'])(
    '"%s" does not ask the agent to wait',
    (text) => {
      expect(isWaitPhrase(text)).toBe(false);
    },
  );
});

describe('phrases without spaces between their words', () => {
  it.each([
    '嗯',
    '嗯嗯，好的',
    '哦，原来如此。',
    'はい',
    'うん、なるほど',
    'そうですね。',
    'ครับ',
    'อืม ค่ะ',
    'โอเคครับ',
  ])('%s is an acknowledgement', (text) => {
    expect([isBackchannel(text), isStopWord(text)]).toEqual([true, false]);
  });

  it.each(['好的我要两张', '我想预订', 'はい、二名です', 'ผมอยากจอง', '嗯'.repeat(17)])(
    '%s is none',
    (text) => {
      expect(isBackchannel(text)).toBe(false);
    },
  );

  it.each([
    '等一下',
    '等一下我想问',
    '不对，是星期五',
    '停',
    '停一下好吗',
    '喂，你好',
    '等等我',
    'すみません、予約です',
    '待ってください',
    'ちょっと待ってください',
    '違います',
    'เดี๋ยวก่อน',
    'ไม่ใช่ครับ',
  ])('%s always interrupts', (text) => {
    expect(isStopWord(text)).toBe(true);
  });

  it.each(['停车场在哪', '喂养两只猫', 'ไม่เป็นไรค่ะ', '好的'])('%s does not', (text) => {
    expect(isStopWord(text)).toBe(false);
  });

  it.each(['请等一下', '等一下，谢谢', 'ちょっと待って', 'รอสักครู่ครับ'])(
    '%s asks the agent to wait',
    (text) => {
      expect(isWaitPhrase(text)).toBe(true);
    },
  );

  it.each(['停车场在哪里', '我等一下再打', '待ち時間は'])(
    '%s does not ask the agent to wait',
    (text) => {
      expect(isWaitPhrase(text)).toBe(false);
    },
  );

  it('may still be coming', () => {
    expect(isBackchannelPrefix('原来')).toBe(true);
    expect(isBackchannelPrefix('そうで')).toBe(true);
    expect(isBackchannelPrefix('我想')).toBe(false);
  });
});

describe('words that are still coming', () => {
  it.each(['i', 'of', 'got', 'okay i', 'oh I'])('may make an acknowledgement of %j', (text) => {
    expect(isBackchannelPrefix(text)).toBe(true);
  });

  it.each(['', 'i want', 'okay i want', 'see', 'offer'])('make none of %j', (text) => {
    expect(isBackchannelPrefix(text)).toBe(false);
  });
});
