// Lists of control-phrases.ts by language (ISO 639-1): whole utterances in lower case without punctuation; Chinese,
// Japanese and Thai without spaces; Hindi in Latin letters too, as multilingual recognisers write it. A phrase that
// acknowledges in one language means nothing else in another: lists of all languages are used together.

/** Backchannels: acknowledgements of a listener that are no attempt to interrupt. */
export const BACKCHANNELS: Record<string, readonly string[]> = {
  en: [
    ...['mhm', 'mhmm', 'm hm', 'mm', 'mmm', 'mm hm', 'mm hmm', 'mmhmm', 'uh huh', 'uhuh', 'uhum'],
    ...['uh', 'um', 'hmm', 'hm', 'ah', 'aha', 'oh', 'ok', 'okay', 'right', 'i see', 'got it'],
    ...['yeah', 'yep', 'yup', 'sure', 'alright', 'all right', 'really', 'wow', 'great', 'good'],
    ...['cool', 'nice', 'fine', 'oh okay', 'oh i see', 'go on', 'of course', 'makes sense'],
    ...['i understand', 'understood', 'sounds good', 'very good', 'interesting'],
  ],
  de: [
    ...['mhm', 'hm', 'aha', 'ach', 'ach so', 'achso', 'ah ja', 'ja', 'jaja', 'okay', 'genau'],
    ...['gut', 'alles klar', 'klar', 'verstehe', 'ich verstehe', 'verstanden', 'stimmt', 'richtig'],
    ...['schön', 'super', 'natürlich', 'in ordnung'],
  ],
  es: [
    ...['mhm', 'aja', 'ajá', 'ah', 'sí', 'si', 'ya', 'vale', 'claro', 'bueno', 'bien', 'muy bien'],
    ...['entiendo', 'ya veo', 'de acuerdo', 'okay', 'perfecto', 'por supuesto', 'exacto'],
  ],
  fr: [
    ...['mhm', 'ah', 'ah bon', 'ah oui', 'oui', 'ouais', "d'accord", 'okay', 'bien', 'très bien'],
    ...['je vois', 'je comprends', 'bien sûr', 'exactement', "c'est ça", 'parfait', 'entendu'],
  ],
  it: [
    ...['mhm', 'ah', 'sì', 'okay', 'va bene', 'bene', 'certo', 'capisco', 'capito', 'ho capito'],
    ...['esatto', 'perfetto', 'giusto', 'ecco'],
  ],
  nl: [
    ...['mhm', 'ja', 'jaja', 'oké', 'okay', 'goed', 'precies', 'ik snap het', 'ik begrijp het'],
    ...['duidelijk', 'prima', 'natuurlijk', 'inderdaad'],
  ],
  pt: [
    ...['mhm', 'ah', 'sim', 'tá', 'tá bom', 'está bem', 'certo', 'claro', 'entendo', 'entendi'],
    ...['okay', 'pois', 'pois é', 'exato', 'perfeito', 'com certeza'],
  ],
  hi: [
    ...['हाँ', 'हां', 'हा', 'हूँ', 'हूं', 'हम्म', 'जी', 'जी हाँ', 'जी हां', 'हाँजी'],
    ...['हांजी', 'अच्छा', 'अच्छा जी', 'ठीक', 'ठीक है', 'सही', 'सही है', 'सही बात'],
    ...['सही बात है', 'बिल्कुल', 'बिलकुल', 'ओके', 'ओह', 'ओहो', 'वाह', 'बढ़िया'],
    ...['बहुत बढ़िया', 'बहुत अच्छा', 'ज़रूर', 'जरूर', 'समझ गया', 'समझ गई', 'समझ गए'],
    ...['समझ गयी', 'मैं समझ गया', 'मैं समझ गई', 'पता है', 'haan', 'haan ji', 'ji'],
    ...['ji haan', 'achha', 'accha', 'theek hai', 'thik hai', 'sahi hai', 'bilkul'],
    ...['samajh gaya', 'samajh gayi'],
  ],
  ar: [
    ...['نعم', 'أيوه', 'ايوه', 'أيوة', 'ايوة', 'أجل', 'آه', 'اه', 'أها', 'اها', 'طيب'],
    ...['تمام', 'أوكي', 'اوكي', 'أوكيه', 'اوكيه', 'حسنا', 'حسنًا', 'حسناً', 'ماشي', 'صح'],
    ...['صحيح', 'أكيد', 'اكيد', 'فهمت', 'مفهوم', 'واضح', 'ممتاز', 'جيد', 'جميل', 'طبعا'],
    ...['طبعًا', 'طبعاً', 'بالطبع', 'بالضبط', 'حاضر', 'إن شاء الله', 'ان شاء الله'],
  ],
  zh: [
    ...[
      '嗯',
      '好的',
      '恩',
      '呃',
      '哦',
      '噢',
      '喔',
      '啊',
      '哎',
      '对',
      '对的',
      '是',
      '是的',
      '是吗',
      '好',
      '好吧',
    ],
    ...[
      '行',
      '可以',
      '没错',
      '当然',
      '明白',
      '明白了',
      '知道了',
      '我知道',
      '了解',
      '懂了',
      '原来如此',
      '这样',
    ],
    ...['这样啊', '真的', '真的吗', '没问题', 'ok'],
  ],
  ja: [
    ...[
      'はい',
      'うん',
      'ええ',
      'ああ',
      'あー',
      'へえ',
      'へー',
      'ふーん',
      'そう',
      'そうです',
      'そうですか',
    ],
    ...[
      'そうですね',
      'そうなんですか',
      'なるほど',
      'わかりました',
      '分かりました',
      '了解',
      '了解です',
    ],
    ...['承知しました', '確かに', 'もちろん', 'いいですね', 'オッケー', '本当', '本当ですか'],
  ],
  th: [
    ...[
      'ครับ',
      'ค่ะ',
      'คะ',
      'ครับผม',
      'จ้ะ',
      'อืม',
      'อือ',
      'เออ',
      'อ๋อ',
      'โอเค',
      'ใช่',
      'ดี',
      'ได้',
      'เข้าใจ',
    ],
    ...['เข้าใจแล้ว', 'แน่นอน', 'จริงหรือ', 'รับทราบ'],
  ],
};

/** Phrases that interrupt in any case, also as the beginning of a longer sentence. */
export const STOPS: Record<string, readonly string[]> = {
  en: [
    ...['no', 'nope', 'no no', 'no wait', 'actually', 'excuse me', 'sorry', 'pardon', 'enough'],
    ...['cancel', 'hello', 'let me speak', 'let me finish', 'listen'],
  ],
  de: ['nein', 'entschuldigung', 'verzeihung', 'hallo', 'genug', 'falsch'],
  es: ['no', 'perdón', 'disculpe', 'disculpa', 'oiga', 'hola', 'basta'],
  fr: ['non', 'pardon', 'excusez moi', 'allô', 'ça suffit'],
  it: ['no', 'scusi', 'mi scusi', 'scusa', 'pronto', 'basta'],
  nl: ['nee', 'sorry', 'pardon', 'hallo', 'genoeg'],
  pt: ['não', 'desculpe', 'com licença', 'alô', 'chega'],
  hi: [
    ...['नहीं', 'नही', 'ना', 'जी नहीं', 'जी नही', 'गलत', 'ग़लत', 'माफ़ कीजिए'],
    ...['माफ कीजिए', 'माफ़ कीजिएगा', 'माफ कीजिएगा', 'माफ़ करना', 'माफ करना', 'सॉरी'],
    ...['हैलो', 'हेलो', 'सुनिए', 'सुनिये', 'सुनो', 'एक बात', 'बस', 'रद्द', 'nahi'],
    ...['nahin', 'suniye', 'suno'],
  ],
  ar: [
    ...['لا', 'كلا', 'عفوا', 'عفوًا', 'عفواً', 'آسف', 'اسف', 'آسفة', 'معذرة', 'لو سمحت'],
    ...['ألو', 'الو', 'خطأ', 'غلط', 'كفى', 'خلاص', 'إلغاء', 'الغاء', 'اسمع', 'اسمعني'],
  ],
  zh: [
    '不是',
    '不对',
    '不要',
    '不用',
    '错了',
    '对不起',
    '不好意思',
    '打断一下',
    '喂',
    '够了',
    '取消',
  ],
  ja: ['いいえ', 'いえ', '違います', '違う', 'すみません', 'もしもし', 'キャンセル', 'もういい'],
  // Thai "no" (ไม่) alone also begins "never mind" (ไม่เป็นไร), so it has a word behind it here.
  th: ['ไม่ใช่', 'ไม่เอา', 'ไม่ครับ', 'ไม่ค่ะ', 'ไม่ได้', 'ขอโทษ', 'ฮัลโหล', 'พอแล้ว', 'ยกเลิก'],
};

/** Phrases that ask the agent to be silent for a while. They interrupt too. */
export const WAITS: Record<string, readonly string[]> = {
  en: [
    ...['stop', 'stop it', 'stop talking', 'stop there', 'please stop', 'wait', 'wait a minute'],
    ...['wait a second', 'wait a moment', 'hold on', 'hold on a second', 'hold on a minute'],
    ...['hang on', 'hang on a second', 'hang on a minute', 'one moment', 'a moment', 'one minute'],
    ...['one second', 'just a moment', 'just a minute', 'just a second', 'give me a second'],
    ...['give me a moment', 'give me a minute', 'be quiet', 'quiet', 'shut up', 'hush'],
  ],
  de: [
    ...['stopp', 'stop', 'halt', 'warte', 'warten sie', 'moment', 'einen moment', 'moment mal'],
    ...['augenblick', 'einen augenblick', 'sekunde', 'eine sekunde', 'ruhe', 'seien sie still'],
  ],
  es: [
    ...['para', 'pare', 'espera', 'espere', 'un momento', 'espere un momento', 'un segundo'],
    ...['un minuto', 'espera un momento', 'silencio', 'cállate'],
  ],
  fr: [
    ...['stop', 'arrêtez', 'attendez', 'attends', 'un moment', 'un instant', 'une seconde'],
    ...['une minute', 'attendez un instant', 'silence', 'taisez vous'],
  ],
  it: [
    ...['stop', 'aspetti', 'aspetta', 'un momento', 'un attimo', 'aspetti un momento'],
    ...['un secondo', 'un minuto', 'silenzio', 'ferma', 'fermo'],
  ],
  nl: ['stop', 'wacht', 'wacht even', 'een moment', 'momentje', 'even wachten', 'stil'],
  pt: [
    ...['pare', 'espere', 'espera', 'um momento', 'um instante', 'um segundo', 'um minuto'],
    ...['espere um momento', 'silêncio'],
  ],
  hi: [
    ...['रुको', 'रुकिए', 'रुकिये', 'रुक जाओ', 'रुक जाइए', 'ठहरो', 'ठहरिए', 'एक मिनट'],
    ...['एक मिनिट', 'एक सेकंड', 'एक सेकेंड', 'एक पल', 'एक मिनट रुकिए', 'एक मिनट रुको'],
    ...['होल्ड', 'होल्ड करो', 'होल्ड कीजिए', 'स्टॉप', 'वेट', 'चुप', 'चुप रहो'],
    ...['चुप रहिए', 'ruko', 'rukiye', 'ek minute', 'ek second'],
  ],
  ar: [
    ...['انتظر', 'إنتظر', 'انتظري', 'لحظة', 'لحظه', 'لحظة واحدة', 'دقيقة', 'دقيقه'],
    ...['دقيقة واحدة', 'ثانية', 'ثانيه', 'استنى', 'استنا', 'توقف', 'توقفي', 'قف', 'وقف'],
    ...['اسكت', 'اسكتي', 'اصبر', 'اصبري'],
  ],
  zh: [
    '停',
    '等一下',
    '停一下',
    '等等',
    '等一等',
    '稍等',
    '稍等一下',
    '等会儿',
    '别说了',
    '慢着',
    '安静',
  ],
  ja: [
    ...[
      '待って',
      '待ってください',
      'ちょっと待って',
      'ちょっと待ってください',
      '少々お待ちください',
    ],
    ...['少し待って', 'ストップ', 'やめて', '静かに'],
  ],
  th: ['หยุด', 'รอก่อน', 'รอเดี๋ยว', 'รอสักครู่', 'เดี๋ยวก่อน', 'สักครู่', 'แป๊บนึง', 'เงียบ'],
};

/** Words around such a request. */
export const POLITE_WORDS: readonly string[] = [
  ...[
    'please',
    'just',
    'okay',
    'ok',
    'oh',
    'ah',
    'um',
    'no',
    'hey',
    'sorry',
    'yeah',
    'thank you',
    'thanks',
  ],
  ...[
    '请',
    '谢谢',
    '麻烦',
    '好',
    '好的',
    '嗯',
    'すみません',
    'お願いします',
    'はい',
    'ครับ',
    'ค่ะ',
    'คะ',
    'หน่อย',
  ],
  ...['bitte', 'por favor', "s'il vous plaît", 'per favore', 'alstublieft'],
  ...['कृपया', 'प्लीज़', 'प्लीज', 'ज़रा', 'जरा', 'जी', 'हाँ', 'हां', 'थोड़ा'],
  ...['من فضلك', 'لو سمحت', 'شكرا', 'شكرًا'],
];

/** Phrases with which people answer a call, or greet. */
export const GREETINGS: Record<string, readonly string[]> = {
  en: [
    ...['hello', 'hello there', 'hi', 'hi there', 'hey', 'hey there', 'good morning'],
    ...['good afternoon', 'good evening', 'yes hello', 'yes hi', 'who is this', "who's this"],
  ],
  de: [
    ...['hallo', 'ja hallo', 'guten tag', 'guten morgen', 'guten abend', 'grüß gott', 'grüß dich'],
    ...['moin', 'servus', 'ja bitte', 'wer ist da'],
  ],
  es: [
    ...['hola', 'aló', 'diga', 'dígame', 'buenas', 'buenos días', 'buenas tardes'],
    ...['buenas noches', 'quién es', 'sí dígame'],
  ],
  fr: ['allô', 'oui allô', 'bonjour', 'bonsoir', 'salut', 'qui est ce'],
  it: ['pronto', 'sì pronto', 'ciao', 'salve', 'buongiorno', 'buonasera', 'chi parla'],
  nl: [
    ...['hallo', 'hoi', 'goedemorgen', 'goedemiddag', 'goedenavond', 'goedendag'],
    ...['met wie spreek ik'],
  ],
  pt: ['alô', 'estou', 'está lá', 'olá', 'oi', 'bom dia', 'boa tarde', 'boa noite', 'quem fala'],
  hi: ['हैलो', 'हेलो', 'नमस्ते', 'नमस्कार', 'कौन', 'hello', 'namaste', 'kaun'],
  ar: ['ألو', 'الو', 'مرحبا', 'مرحبًا', 'أهلا', 'اهلا', 'السلام عليكم', 'صباح الخير', 'مساء الخير'],
  zh: ['喂', '喂你好', '喂您好', '你好', '您好', '早上好', '哪位'],
  ja: [
    'もしもし',
    'こんにちは',
    'こんばんは',
    'おはようございます',
    'はいもしもし',
    'どちら様ですか',
  ],
  th: ['ฮัลโหล', 'สวัสดี', 'สวัสดีครับ', 'สวัสดีค่ะ'],
};

/** Phrases with which people take leave. */
export const FAREWELLS: Record<string, readonly string[]> = {
  en: [
    ...['goodbye', 'good bye', 'bye', 'bye bye', 'bye now', 'see you', 'see you later', 'cheers'],
    ...['have a good day', 'have a nice day', 'have a great day', 'take care', 'you too'],
    ...["that's all", 'that is all', 'thank you', 'thanks', 'thank you very much', 'thanks a lot'],
  ],
  de: [
    ...['auf wiederhören', 'auf wiedersehen', 'wiederhören', 'tschüss', 'tschüs', 'tschau', 'ciao'],
    ...[
      'servus',
      'bis dann',
      'bis bald',
      'schönen tag',
      'schönen tag noch',
      'danke',
      'vielen dank',
    ],
    ...['danke schön', 'dankeschön', 'ebenso', 'gleichfalls'],
  ],
  es: [
    ...[
      'adiós',
      'adios',
      'hasta luego',
      'hasta pronto',
      'hasta mañana',
      'nos vemos',
      'chao',
      'chau',
    ],
    ...['buen día', 'que tenga buen día', 'gracias', 'muchas gracias', 'igualmente'],
  ],
  fr: [
    ...['au revoir', 'à bientôt', 'à plus tard', 'salut', 'bonne journée', 'bonne soirée', 'merci'],
    ...['merci beaucoup', 'vous aussi'],
  ],
  it: [
    ...['arrivederci', 'arrivederla', 'ciao', 'a presto', 'buona giornata', 'buona serata'],
    ...['grazie', 'grazie mille', 'altrettanto'],
  ],
  nl: [
    ...['tot ziens', 'dag', 'doei', 'tot later', 'fijne dag', 'fijne dag nog', 'bedankt'],
    ...['dank u', 'dank u wel', 'dank je wel', 'hetzelfde'],
  ],
  pt: [
    ...['adeus', 'tchau', 'até logo', 'até mais', 'até breve', 'bom dia', 'obrigado', 'obrigada'],
    ...['muito obrigado', 'muito obrigada', 'igualmente'],
  ],
  hi: ['नमस्ते', 'नमस्कार', 'अलविदा', 'बाय', 'बाय बाय', 'धन्यवाद', 'शुक्रिया', 'namaste', 'dhanyavad'],
  ar: [
    'مع السلامة',
    'مع السلامه',
    'وداعا',
    'وداعًا',
    'إلى اللقاء',
    'الى اللقاء',
    'باي',
    'شكرا',
    'شكرًا',
  ],
  zh: ['再见', '拜拜', '回头见', '谢谢', '谢谢你', '谢谢您'],
  ja: [
    'さようなら',
    '失礼します',
    '失礼いたします',
    'じゃあね',
    'またね',
    'ありがとう',
    'ありがとうございました',
  ],
  th: ['ลาก่อน', 'สวัสดี', 'บาย', 'บ๊ายบาย', 'แล้วเจอกัน', 'ขอบคุณ'],
};

export const ENGLISH_ANSWERS = {
  yes: [
    ...['yes', 'yes please', 'yes i do', 'yes i am', 'yes it is', 'yes that is right'],
    ...["yes that's right", 'yeah', 'yep', 'yup', 'sure', 'of course', 'certainly', 'absolutely'],
    ...['definitely', 'correct', 'that is correct', "that's correct", 'that is right'],
    ...["that's right", 'right', 'exactly', 'okay', 'ok', 'please do', 'sounds good', 'i do'],
    ...['i agree', 'affirmative', 'confirm', 'confirmed'],
  ],
  no: [
    ...['no', 'no thank you', 'no thanks', 'no i do not', "no i don't", 'no it is not'],
    ...["no it isn't", 'nope', 'nah', 'not really', 'not now', 'not today', 'never', 'wrong'],
    ...['that is wrong', "that's wrong", 'incorrect', 'that is not right', "that's not right"],
    ...['that is not correct', "that's not correct", 'no way', 'negative', "i don't", 'i do not'],
  ],
  goodbye: [
    ...['goodbye', 'good bye', 'bye', 'bye bye', 'bye now', 'see you', 'see you later'],
    ...['talk to you later', 'hang up', 'have a good day', 'have a nice day', 'have a great day'],
    ...["that's all", 'that is all'],
  ],
} as const satisfies Record<string, readonly string[]>;
