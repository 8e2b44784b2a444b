// Word lists of endpointing by language (ISO 639-1): words that do not end a sentence, hesitations, yes and no, digits.
// Entries have the form of `wordsOf`: lower case, no apostrophes. A word that often ends a sentence as well (verb
// prefixes of German and Dutch) is in no list.

export interface EndpointingWords {
  /** Endings of one to three words that do not end a sentence. */
  endings: ReadonlySet<string>;
  yesNo: ReadonlySet<string>;
  /** Words that may accompany a yes or a no. */
  besideYesNo: ReadonlySet<string>;
  digits: ReadonlySet<string>;
  /** Words that repeat the next digit, with the number of additional digits. */
  repeats: Readonly<Record<string, number>>;
}

/** Words of the longest entry of `endings`. */
export const ENDING_WORDS_MAX = 3;

const setOf = (words: string): ReadonlySet<string> =>
  new Set(words.normalize('NFC').trim().split(/\s+/));
const endingsOf = (words: string, phrases: readonly string[] = []): ReadonlySet<string> =>
  new Set([...setOf(words), ...phrases]);

const EN: EndpointingWords = {
  endings:
    endingsOf(`and or but because so if that which with to for from of in on at the a an my your our their
    is are was its im i we about like well than until between um umm uh uhm er erm eh hmm`),
  yesNo: setOf(`yes yeah yep yup yea sure ok okay correct right exactly
    no nope nah never wrong incorrect`),
  besideYesNo: setOf('please thanks thank you that thats is its it really not'),
  digits: setOf('zero oh o one two three four five six seven eight nine'),
  repeats: { double: 1, triple: 2 },
};

const DE: EndpointingWords = {
  endings: endingsOf(
    `und oder aber sondern denn weil dass ob wenn falls damit als für von vom zum zur im am beim in bis
    ohne wegen seit gegen zwischen der die den dem des eine einen einem einer mein meine meinen meinem meiner
    dein deine unser unsere also naja äh ähm öh öhm ehm eh hm hmm mh`,
    [
      ...['ich möchte', 'ich hätte', 'ich hätte gern', 'ich hätte gerne', 'ich würde'],
      ...['ich würde gern', 'ich würde gerne', 'ich wollte', 'ich brauche', 'ich bräuchte'],
      ...['ich heiße', 'name ist', 'nummer ist', 'nummer lautet', 'adresse ist', 'es geht um'],
      ...[
        'das heißt',
        'und zwar',
        'und ich',
        'weil ich',
        'dass ich',
        'wenn ich',
        'ob ich',
        'ob sie',
      ],
    ],
  ),
  yesNo: setOf(`ja jawohl jo jep genau richtig stimmt klar sicher gern gerne ok okay korrekt doch
    nein nee nö ne niemals falsch nicht`),
  besideYesNo: setOf('bitte danke das ist es so sehr auch natürlich'),
  digits: setOf('null eins zwei zwo drei vier fünf sechs sieben acht neun'),
  repeats: { doppel: 1, doppelt: 1 },
};

const ES: EndpointingWords = {
  endings: endingsOf(
    `y e o u pero porque aunque que de del a al en con sin por para desde hasta entre sobre como
    el la los las un una unos unas mi mis su sus tu tus quiero quisiera necesito pues este eh ehm em mmm`,
    [
      'o sea',
      'número es',
      'nombre es',
      'dirección es',
      'correo es',
      'me llamo',
      'me gustaría',
      'y yo',
    ],
  ),
  yesNo: setOf(`sí si claro correcto exacto exactamente vale bueno ok okay cierto seguro perfecto
    no nunca tampoco incorrecto`),
  besideYesNo: setOf('por favor gracias muchas que eso es así está de acuerdo señor señora'),
  digits: setOf('cero uno dos tres cuatro cinco seis siete ocho nueve'),
  repeats: { doble: 1, triple: 2 },
};

const FR: EndpointingWords = {
  endings: endingsOf(
    `et ou mais parce car que quand comme si avec sans pour par dans sur chez vers entre depuis de du des à au aux en
    le la les un une mon ma mes votre vos notre nos son sa ses je jai donc alors enfin euh heu ben bah hum`,
    [
      ...['je voudrais', 'jaimerais', 'je veux', 'je souhaite', 'je mappelle', 'jai besoin'],
      ...['nom est', 'numéro est', 'adresse est', 'est que', 'cest à dire'],
    ],
  ),
  yesNo: setOf(`oui ouais ok okay exact exactement correct absolument daccord voilà si
    non jamais faux incorrect`),
  besideYesNo: setOf(
    'merci sil vous plaît cest ça est tout à fait bien sûr du pas madame monsieur',
  ),
  digits: setOf('zéro un deux trois quatre cinq six sept huit neuf'),
  repeats: { double: 1, triple: 2 },
};

const IT: EndpointingWords = {
  endings: endingsOf(
    `e ed o ma però che se di a ad da in con su per tra fra come quando il lo la i gli le un una mio mia miei mie
    suo sua del dello della dei degli delle al allo alla ai agli alle nel nello nella nei nelle sul sulla dal dalla
    vorrei voglio quindi allora cioè ehm eh uhm mmm`,
    ['mi chiamo', 'ho bisogno', 'numero è', 'nome è', 'indirizzo è', 'e io'],
  ),
  yesNo: setOf(`sì si certo esatto esattamente corretto giusto ok okay confermo naturalmente
    no mai sbagliato`),
  besideYesNo: setOf('per favore grazie è va bene così questo affatto signora'),
  digits: setOf('zero uno due tre quattro cinque sei sette otto nove'),
  repeats: { doppio: 1, triplo: 2 },
};

const NL: EndpointingWords = {
  endings: endingsOf(
    `en of maar want omdat als dus met van voor naar te tot bij tussen zonder in de een mijn uw onze jouw ik
    nou eh uh uhm ehm euh hmm`,
    [
      ...['ik wil', 'ik wil graag', 'ik zou', 'ik zou graag', 'ik heet', 'naam is', 'nummer is'],
      ...['adres is', 'zeg maar', 'en ik', 'dat ik', 'of ik'],
    ],
  ),
  yesNo: setOf(`ja jawel jazeker zeker klopt precies correct juist oké ok okay goed prima graag
    nee neen nooit fout niet`),
  besideYesNo: setOf('dat is het alstublieft dank u je wel hoor heel'),
  digits: setOf('nul een één twee drie vier vijf zes zeven acht negen'),
  repeats: { dubbel: 1, dubbele: 1 },
};

const PT: EndpointingWords = {
  endings: endingsOf(
    `e ou mas porque que se de do da dos das em no na nos nas com sem por pelo pela para pra até entre sobre ao à
    como quando o a os as um uma uns umas meu minha meus minhas seu sua queria quero gostaria preciso então tipo
    hum hã ahn ã eh ehm`,
    ['número é', 'nome é', 'endereço é', 'me chamo', 'quer dizer', 'e eu'],
  ),
  yesNo: setOf(`sim isso claro certo correto exato exatamente ok okay é tá confirmo
    não nunca errado incorreto`),
  besideYesNo: setOf('por favor obrigado obrigada com certeza está bem bom mesmo'),
  digits: setOf('zero um uma dois duas três quatro cinco seis meia sete oito nove'),
  repeats: { duplo: 1 },
};

/** Words of Hindi. Postpositions are no endings: they end answers ("on Monday", "from Delhi"). */
const HI: EndpointingWords = {
  endings: endingsOf(
    `और या लेकिन मगर परंतु परन्तु क्योंकि क्यूँकि इसलिए कि अगर यदि जब मेरा मेरी मेरे अपना अपनी अपने
    हमारा हमारी हमारे आपका आपकी आपके मुझे मैं हम एक मतलब यानी उम अम्म हम्म uh um umm`,
    ['मेरा नाम', 'मेरा नाम है', 'मेरा नंबर', 'मेरा नंबर है', 'मेरा पता है'],
  ),
  yesNo: setOf(`हाँ हां हा हाँजी हांजी जी बिल्कुल बिलकुल सही ठीक ओके अच्छा ज़रूर जरूर haan ji yes ok okay
    नहीं नही ना मत गलत ग़लत nahi nahin no`),
  besideYesNo: setOf('है हैं बात शुक्रिया धन्यवाद थैंक्यू थैंक यू कृपया प्लीज़ प्लीज भी hai'),
  digits: setOf(`शून्य ज़ीरो जीरो एक दो तीन चार पाँच पांच छह छः छे सात आठ नौ वन टू थ्री फोर फ़ोर फाइव फ़ाइव
    सिक्स सेवन एट नाइन zero one two three four five six seven eight nine`),
  repeats: Object.fromEntries([
    ['डबल', 1],
    ['ट्रिपल', 2],
    ['double', 1],
    ['triple', 2],
  ]),
};

const AR: EndpointingWords = {
  endings:
    setOf(`و أو او لكن ولكن لأن لان إذا اذا أن ان إن من إلى الى في على عن مع حتى بين بدون ثم هذا هذه
    أنا انا اسمي رقمي عنواني عندي أريد اريد يعني امم اممم ممم`),
  yesNo:
    setOf(`نعم أيوه ايوه أيوة ايوة أجل اجل بلى آه اه صح صحيح تمام طيب أوكي اوكي حسنا حسنًا أكيد اكيد طبعا
    طبعًا موافق لا كلا أبدا أبدًا غلط خطأ`),
  besideYesNo: setOf('شكرا شكرًا من فضلك لو سمحت هذا بالتأكيد والله ليس'),
  digits:
    setOf(`صفر واحد واحدة اثنان اثنين إثنين اتنين ثلاثة ثلاث تلاتة أربعة اربعة أربع خمسة خمس ستة ست
    سبعة سبع ثمانية ثماني تمانية تسعة تسع`),
  repeats: {},
};

/** Lists for other languages: hesitations that mean nothing else in any. Digits are read as figures. */
const OTHERS: EndpointingWords = {
  endings: setOf('uh uhm hmm mmm ehm äh ähm öh euh'),
  yesNo: new Set(),
  besideYesNo: new Set(),
  digits: new Set(),
  repeats: {},
};

export const endpointingWords: Readonly<Record<string, EndpointingWords>> = {
  en: EN,
  de: DE,
  es: ES,
  fr: FR,
  it: IT,
  nl: NL,
  pt: PT,
  hi: HI,
  ar: AR,
};

/** Word lists of a language. `language`: its two-letter code, as returned by `primaryLanguage`. */
export function endpointingWordsOf(language: string): EndpointingWords {
  const known = Object.hasOwn(endpointingWords, language) ? endpointingWords[language] : undefined;
  return known ?? OTHERS;
}
