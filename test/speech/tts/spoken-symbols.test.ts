import { describe, expect, it } from 'vitest';
import { hasForeignLetters } from '../../../src/speech/tts/spoken-symbols.ts';
import { normalizeText } from '../../../src/speech/tts/text-normalization.ts';

describe('what a model writes', () => {
  it.each([
    ['On 2026-05-03T14:30:00Z.', 'On May 3rd, 2026 at 14:30.'],
    ['01.05.2026', 'May 1st, 2026'],
    ['9:00–17:00', '9:00 to 17:00'],
    ['¥500, ₹20, 5 € and 5 $', '500 yen, 20 rupees, 5 euros and 5 dollars'],
    ['€1.234,50 or EUR 1,000,000', '1,234 euros 50 or 1,000,000 euros'],
    ['CHF 1', '1 Swiss franc'],
    [
      'It is 22°C, 90 km/h, 100 m².',
      'It is 22 degrees Celsius, 90 kilometers per hour, 100 square meters.',
    ],
    ['3 × 4 = 12, ±5, ≥ 2', '3 times 4 equals 12, plus or minus 5, at least 2'],
    ['A → B', 'A to B'],
    ['1½ cups', '1 and a half cups'],
    ['№ 5, § 7, Acme™', 'number 5, section 7, Acme'],
    ['5 %', '5%'],
    ['Straße, Łódź, Ærø', 'Strasse, Lodz, Aero'],
  ])('%s is spoken as %s', (written, spoken) => {
    expect(normalizeText(written)).toBe(spoken);
  });

  it.each([
    ['Ваш приём', true],
    ['today 東京', true],
    ['Zoë Müller, Straße, Łódź, naïve, señor', false],
    ['3 × 4 → €5 👍', false],
    ['', false],
  ])('%s has letters that an English voice cannot say: %s', (text, isForeign) => {
    expect(hasForeignLetters(text)).toBe(isForeign);
  });
});
