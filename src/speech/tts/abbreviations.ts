// Abbreviations after which a full stop ends no sentence, by language. The language of a text is not known where it is
// split: all languages count together. A word that ends sentences in any of them is left out, such as "me" (French), "ok"
// (Polish) and "out" (Portuguese): a sentence that is split at an abbreviation is heard, one that is joined to the next
// only comes later.

type Language = 'en' | 'es' | 'de' | 'fr' | 'it' | 'pt' | 'nl' | 'pl' | 'hi';

/** Before a name, or before any word. */
const titles: Readonly<Record<Language, string>> = {
  en: 'mr mrs ms mx dr prof st gen sen rep lt col capt sgt rev hon gov messrs vs cf al e.g i.e viz',
  es: 'sr sra srta sres dr dra prof profa lic ing ud uds dña avda av',
  de: 'hr fr dr prof dipl ing bzw ca vgl evtl inkl exkl zzgl ggf sog',
  fr: 'mme mmes mlle mlles dr pr ste bd av',
  it: 'sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa avv ing geom egr spett',
  pt: 'sr sra srta dr dra prof profa eng exmo exma ilmo ilma av',
  nl: 'dhr mevr mw dr drs ir ing prof bijv ca',
  pl: 'dr mgr inż prof hab św ks ul np tzn tj',
  hi: 'डॉ श्री',
};

/** Before a number. Otherwise they end a sentence. */
const beforeNumbers: Readonly<Record<Language, string>> = {
  en: 'no nos nr fig ext tel approx dept sec art vol pp p ch apt rs jan feb mar apr jun jul aug sep sept oct nov dec',
  es: 'núm nro pág págs tel aprox piso ene feb abr jun jul sept oct nov dic',
  de: 'nr nrn tel abs kap mind max str jän jan feb mrz apr jun jul aug sept okt nov dez',
  fr: 'tél env art janv févr avr juil sept oct nov déc',
  it: 'num tel pag pagg genn febb giu lug ott dic',
  pt: 'núm tel pág fev abr jun jul dez',
  nl: 'nr tel blz mrt apr okt dec',
  pl: 'nr tel godz str',
  hi: 'रु',
};

/** Words before an ordinal, which German writes with a full stop: "im 3. Stock". */
const beforeOrdinals = 'am im zum zur vom beim der dem den des das die ab bis seit';

/** Months after the ordinal of a day: "3. Mai". */
const months =
  'januar jänner februar märz april mai juni juli august september oktober november dezember ' +
  'jan feb mrz apr jun jul aug sep sept okt nov dez';

const wordsOf = (all: Readonly<Record<string, string>>) =>
  new Set(Object.values(all).flatMap((words) => words.split(' ')));

export const TITLES: ReadonlySet<string> = wordsOf(titles);
export const BEFORE_NUMBER: ReadonlySet<string> = wordsOf(beforeNumbers);
export const BEFORE_ORDINAL: ReadonlySet<string> = new Set(beforeOrdinals.split(' '));
export const MONTHS: ReadonlySet<string> = new Set(months.split(' '));
/** Ends of compounds that are abbreviations before a number: "Hauptstr. 5". */
export const COMPOUND_BEFORE_NUMBER = /\p{L}str$/u;
