// What whisper models write for a cough, a click or silence: they learnt it from the ends of films and videos. Phrases that
// no caller says in a second; such as callers say ("thank you", "ありがとうございました") are not among them.
// Source: https://github.com/openai/whisper/discussions/928, 2608 and 679.

/** Whole texts. */
const TEXTS = ['you', 'please subscribe', 'продолжение следует', '(copyright )?(wdr|swr) \\d{4}'];

/** Parts of texts, as regular expressions: lower case, without marks other than full stops and hyphens. */
const PARTS = [
  // Who made the subtitles; many end with a name, a broadcaster or a year.
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
  // What viewers are to do.
  ...['suscr[ií]bete', 'abonnez-vous', 'inscreva-se', 'iscrivetevi al canale', 'abone ol'],
  ...['подпис(ывайтесь|ывайся|аться|ка) на (наш )?канал', 'подпишитесь на', 'اشتركوا (في|ب|ف)'],
  ...['チャンネル登録', '请不吝点赞', '請不吝點贊', '구독과 좋아요', 'hãy subscribe'],
];

const INVENTED = new RegExp(`^(${TEXTS.join('|')})$|${PARTS.join('|')}`, 'u');

/** `bare`: lower case, letters, digits, spaces, full stops and hyphens alone. */
export function isInventedPhrase(bare: string): boolean {
  return INVENTED.test(bare);
}
