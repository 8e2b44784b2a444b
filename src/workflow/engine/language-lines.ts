// The engine's lines for faults and waits in other languages than English, by the first part of a BCP 47 tag. Lines of
// scripted menus are the author's matter and stay English.

import { type DialogueLines, ENGLISH_LINES } from './default-lines.ts';

type SpokenLines = Pick<
  DialogueLines,
  | 'sayAgain'
  | 'trouble'
  | 'apology'
  | 'handOver'
  | 'oneMoment'
  | 'stillWorking'
  | 'lineRestored'
  | 'areYouThere'
  | 'waiting'
  | 'stillHere'
  | 'sayOtherwise'
  | 'keysOnly'
  | 'confirm'
  | 'goodbye'
  | 'endingSoon'
>;

const LINES: Readonly<Record<string, SpokenLines>> = {
  de: {
    sayAgain: 'Entschuldigung, können Sie das bitte wiederholen?',
    trouble:
      'Entschuldigung, ich habe gerade ein technisches Problem. Können Sie das bitte wiederholen?',
    apology:
      'Es tut mir leid, wegen eines technischen Problems kann ich das Gespräch nicht fortsetzen. Auf Wiederhören.',
    handOver:
      'Es tut mir leid, ich habe ein technisches Problem. Ich verbinde Sie mit jemandem, der Ihnen hilft.',
    oneMoment: ['Einen Moment bitte.', 'Einen Augenblick.', 'Ich sehe kurz nach.'],
    stillWorking: 'Danke für Ihre Geduld. Ich bin noch dabei.',
    lineRestored: 'Entschuldigung, die Verbindung war unterbrochen.',
    areYouThere: 'Sind Sie noch da?',
    waiting: 'Natürlich, lassen Sie sich Zeit.',
    stillHere: 'Ich bin noch da.',
    sayOtherwise:
      'Entschuldigung, ich habe Sie noch nicht verstanden. Bitte sagen Sie es anders, oder benutzen Sie die Tasten Ihres Telefons.',
    keysOnly:
      'Es tut mir leid, ich kann gerade keine Sprache verstehen. Bitte benutzen Sie die Tasten Ihres Telefons.',
    confirm: 'Ich habe {value} verstanden. Ist das richtig?',
    goodbye: 'Vielen Dank für Ihre Zeit. Auf Wiederhören.',
    endingSoon: 'Unsere Zeit ist gleich um: Das Gespräch endet in Kürze.',
  },
  es: {
    sayAgain: 'Perdone, ¿puede repetirlo, por favor?',
    trouble: 'Lo siento, tengo un problema técnico en este momento. ¿Puede repetirlo, por favor?',
    apology: 'Lo siento, no puedo continuar la llamada por un problema técnico. Adiós.',
    handOver: 'Lo siento, tengo un problema técnico. Le paso con una persona que puede ayudarle.',
    oneMoment: ['Un momento, por favor.', 'Un segundo.', 'Déjeme ver.'],
    stillWorking: 'Gracias por esperar. Sigo trabajando en ello.',
    lineRestored: 'Perdone, la línea se ha interrumpido.',
    areYouThere: '¿Sigue usted ahí?',
    waiting: 'Claro, tómese su tiempo.',
    stillHere: 'Sigo aquí.',
    sayOtherwise:
      'Perdone, todavía no le he entendido. Dígalo con otras palabras o use las teclas de su teléfono.',
    keysOnly:
      'Lo siento, en este momento no puedo entender la voz. Use las teclas de su teléfono, por favor.',
    confirm: 'He entendido {value}. ¿Es correcto?',
    goodbye: 'Gracias por su tiempo. Adiós.',
    endingSoon: 'Se nos acaba el tiempo: la llamada terminará en breve.',
  },
  fr: {
    sayAgain: 'Pardon, pouvez-vous répéter, s’il vous plaît ?',
    trouble:
      'Je suis désolé, j’ai un problème technique en ce moment. Pouvez-vous répéter, s’il vous plaît ?',
    apology:
      'Je suis désolé, je ne peux pas poursuivre cet appel à cause d’un problème technique. Au revoir.',
    handOver:
      'Je suis désolé, j’ai un problème technique. Je vous mets en relation avec quelqu’un qui peut vous aider.',
    oneMoment: ['Un instant, s’il vous plaît.', 'Un moment.', 'Je regarde.'],
    stillWorking: 'Merci de patienter. Je m’en occupe toujours.',
    lineRestored: 'Pardon, la ligne a été interrompue.',
    areYouThere: 'Êtes-vous toujours là ?',
    waiting: 'Bien sûr, prenez votre temps.',
    stillHere: 'Je suis toujours là.',
    sayOtherwise:
      'Pardon, je n’ai toujours pas compris. Dites-le autrement, ou utilisez les touches de votre téléphone.',
    keysOnly:
      'Je suis désolé, je ne peux pas comprendre la parole en ce moment. Utilisez les touches de votre téléphone.',
    confirm: 'J’ai compris {value}. Est-ce exact ?',
    goodbye: 'Merci de votre temps. Au revoir.',
    endingSoon: 'Notre temps est bientôt écoulé : cet appel va se terminer.',
  },
  it: {
    sayAgain: 'Scusi, può ripetere, per favore?',
    trouble: 'Mi dispiace, ho un problema tecnico in questo momento. Può ripetere, per favore?',
    apology: 'Mi dispiace, non posso continuare la chiamata per un problema tecnico. Arrivederci.',
    handOver:
      'Mi dispiace, ho un problema tecnico. La metto in contatto con una persona che può aiutarla.',
    oneMoment: ['Un momento, per favore.', 'Un attimo.', 'Vediamo.'],
    stillWorking: 'Grazie per l’attesa. Ci sto ancora lavorando.',
    lineRestored: 'Mi scusi, la linea si è interrotta.',
    areYouThere: 'È ancora in linea?',
    waiting: 'Certo, faccia con calma.',
    stillHere: 'Sono ancora qui.',
    sayOtherwise:
      'Scusi, non ho ancora capito. Lo dica con altre parole, o usi i tasti del telefono.',
    keysOnly:
      'Mi dispiace, in questo momento non riesco a capire la voce. Usi i tasti del telefono, per favore.',
    confirm: 'Ho capito {value}. È giusto?',
    goodbye: 'Grazie per il suo tempo. Arrivederci.',
    endingSoon: 'Il nostro tempo sta per finire: la chiamata terminerà a breve.',
  },
  nl: {
    sayAgain: 'Sorry, kunt u dat herhalen, alstublieft?',
    trouble:
      'Sorry, ik heb op dit moment een technisch probleem. Kunt u dat herhalen, alstublieft?',
    apology:
      'Het spijt me, door een technisch probleem kan ik dit gesprek niet voortzetten. Tot ziens.',
    handOver:
      'Het spijt me, ik heb een technisch probleem. Ik verbind u door met iemand die u kan helpen.',
    oneMoment: ['Een moment, alstublieft.', 'Een ogenblik.', 'Ik kijk het even na.'],
    stillWorking: 'Bedankt voor het wachten. Ik ben er nog mee bezig.',
    lineRestored: 'Sorry, de verbinding was onderbroken.',
    areYouThere: 'Bent u er nog?',
    waiting: 'Natuurlijk, neem de tijd.',
    stillHere: 'Ik ben er nog.',
    sayOtherwise:
      'Sorry, ik heb u nog niet begrepen. Zegt u het anders, of gebruik de toetsen van uw telefoon.',
    keysOnly:
      'Het spijt me, ik kan op dit moment geen spraak verstaan. Gebruik de toetsen van uw telefoon.',
    confirm: 'Ik heb {value} verstaan. Klopt dat?',
    goodbye: 'Bedankt voor uw tijd. Tot ziens.',
    endingSoon: 'Onze tijd is bijna om: dit gesprek eindigt zo.',
  },
  pt: {
    sayAgain: 'Desculpe, pode repetir, por favor?',
    trouble: 'Desculpe, estou com um problema técnico neste momento. Pode repetir, por favor?',
    apology: 'Desculpe, não posso continuar esta chamada por causa de um problema técnico. Adeus.',
    handOver:
      'Desculpe, estou com um problema técnico. Vou passar a chamada a alguém que o pode ajudar.',
    oneMoment: ['Um momento, por favor.', 'Só um instante.', 'Deixe-me ver.'],
    stillWorking: 'Obrigado por esperar. Ainda estou tratando disso.',
    lineRestored: 'Desculpe, a ligação foi interrompida.',
    areYouThere: 'Ainda está aí?',
    waiting: 'Claro, leve o tempo que precisar.',
    stillHere: 'Ainda estou aqui.',
    sayOtherwise:
      'Desculpe, ainda não entendi. Diga de outra maneira, ou use as teclas do telefone.',
    keysOnly:
      'Lamento, neste momento não consigo entender a voz. Use as teclas do telefone, por favor.',
    confirm: 'Entendi {value}. Está certo?',
    goodbye: 'Obrigado pelo seu tempo. Adeus.',
    endingSoon: 'O nosso tempo está quase no fim: a chamada vai terminar em breve.',
  },
};

/** For a BCP 47 tag, such as `de-AT`; English for a language without lines. */
export function linesFor(language: string): DialogueLines {
  const [first = ''] = language.toLowerCase().split(/[-_]/);
  return { ...ENGLISH_LINES, ...(Object.hasOwn(LINES, first) ? LINES[first] : {}) };
}
