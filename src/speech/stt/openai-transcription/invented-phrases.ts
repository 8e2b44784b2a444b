// Phrases that whisper models hallucinate for a cough, a click or silence, learned from the ends of films and videos.
// No caller says them in a second. Phrases that callers do say ("thank you", "ありがとうございました") are not included.
// Source: https://github.com/openai/whisper/discussions/928, 2608 and 679.

/** Whole texts, as regular expressions. */
const TEXTS = ['you', 'please subscribe', 'продолжение следует', '(copyright )?(wdr|swr) \\d{4}'];

/** Parts of texts, as regular expressions: lower case, no punctuation other than full stops and hyphens. */
const PARTS = [
  // Credits for subtitles. Many end with a name, a broadcaster or a year.
  ...[
    'amara ?\\.?org',
    'subtitles by',
    'subtitled by',
    'transcribed by',
    'untertitel',
    'sous-titr',
  ],
  ...['subt[ií]tulos', 'subtitulado por', 'sottotitoli (creati|di|e revisione|a cura)'],
  ...['legendas pela', 'ondertitel(s|d|ing) (ingediend|door)', 'undertexter (från|av)'],
  ...['(teksting|tekster) av', 'danske tekster', 'napisy (stworzone|wykonane|robione)'],
  ...['altyazı m\\.?k', 'субтитры (с[до]|создавал|делал)', 'редактор субтитров'],
  ...['ترجمة نانسي', '字幕 ?(by|由|志愿者|志願者|製作|制作|組|组)', '한글 ?자막 by'],
  // Thanks to the viewers.
  ...['^(thanks|thank you)( so much)? for watching$', 'gracias por ver', 'merci davoir regardé'],
  ...['fürs? zuschauen', 'obrigad[oa] por assistir', 'grazie per (la visione|aver guardato)'],
  ...['bedankt voor het kijken', 'tack för att (du|ni) tittade', 'tak fordi du så med'],
  ...['dziękuję za oglądanie', 'спасибо за просмотр', 'izlediğiniz için teşekkür'],
  ...[
    'شكرا (لل|على ال)مشاهدة',
    'terima kasih (telah|sudah) menonton',
    'cảm ơn các bạn đã theo dõi',
  ],
  ...['ご視聴', '(谢谢|感谢|謝謝|感謝|多谢|多謝)(您的|大家)?(观看|收看|觀看)', '시청해 ?주셔서'],
  // Requests to viewers.
  ...['suscr[ií]bete', 'abonnez-vous', 'inscreva-se', 'iscrivetevi al canale', 'abone ol'],
  ...['подпис(ывайтесь|ывайся|аться|ка) на (наш )?канал', 'подпишитесь на', 'اشتركوا (في|ب|ف)'],
  ...['チャンネル登録', '请不吝点赞', '請不吝點贊', '구독과 좋아요', 'hãy subscribe'],
];

const INVENTED = new RegExp(`^(${TEXTS.join('|')})$|${PARTS.join('|')}`, 'u');

/** `bare`: lower case, with letters, digits, spaces, full stops and hyphens only. */
export function isInventedPhrase(bare: string): boolean {
  return INVENTED.test(bare);
}
