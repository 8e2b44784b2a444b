// The engine's lines for faults and waits in other languages than English, by the first part of a BCP 47 tag. Lines of
// scripted menus are the author's and stay English.

import { type DialogueLines, ENGLISH_LINES } from './default-lines.ts';

type SpokenLines = Pick<
  DialogueLines,
  | 'sayAgain'
  | 'trouble'
  | 'anythingElse'
  | 'cannotDiscuss'
  | 'apology'
  | 'handOver'
  | 'oneMoment'
  | 'stillWorking'
  | 'lineRestored'
  | 'areYouThere'
  | 'waiting'
  | 'stillHere'
  | 'sayOtherwise'
  | 'sayOtherwiseOrKeys'
  | 'speakClearly'
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
    anythingElse: 'Kann ich sonst noch etwas für Sie tun?',
    cannotDiscuss: 'Darüber kann ich leider nicht sprechen. Was kann ich sonst für Sie tun?',
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
      'Entschuldigung, ich habe Sie noch nicht verstanden. Bitte sagen Sie es mit anderen Worten.',
    speakClearly: 'Die Verbindung ist leider schlecht. Bitte sprechen Sie langsam und deutlich.',
    sayOtherwiseOrKeys:
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
    anythingElse: '¿Puedo ayudarle en algo más?',
    cannotDiscuss: 'Lo siento, no puedo hablar de eso. ¿En qué más puedo ayudarle?',
    apology: 'Lo siento, no puedo continuar la llamada por un problema técnico. Adiós.',
    handOver: 'Lo siento, tengo un problema técnico. Le paso con una persona que puede ayudarle.',
    oneMoment: ['Un momento, por favor.', 'Un segundo.', 'Déjeme ver.'],
    stillWorking: 'Gracias por esperar. Sigo trabajando en ello.',
    lineRestored: 'Perdone, la línea se ha interrumpido.',
    areYouThere: '¿Sigue usted ahí?',
    waiting: 'Claro, tómese su tiempo.',
    stillHere: 'Sigo aquí.',
    sayOtherwise: 'Perdone, todavía no le he entendido. Dígalo con otras palabras, por favor.',
    speakClearly: 'Se le oye mal. Hable despacio y claro, por favor.',
    sayOtherwiseOrKeys:
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
    anythingElse: 'Puis-je faire autre chose pour vous ?',
    cannotDiscuss:
      'Je suis désolé, je ne peux pas parler de cela. Que puis-je faire d’autre pour vous ?',
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
    sayOtherwise: 'Pardon, je n’ai toujours pas compris. Dites-le autrement, s’il vous plaît.',
    speakClearly: 'Je vous entends mal. Parlez lentement et distinctement, s’il vous plaît.',
    sayOtherwiseOrKeys:
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
    anythingElse: 'Posso fare altro per lei?',
    cannotDiscuss: 'Mi dispiace, non posso parlare di questo. Che altro posso fare per lei?',
    apology: 'Mi dispiace, non posso continuare la chiamata per un problema tecnico. Arrivederci.',
    handOver:
      'Mi dispiace, ho un problema tecnico. La metto in contatto con una persona che può aiutarla.',
    oneMoment: ['Un momento, per favore.', 'Un attimo.', 'Vediamo.'],
    stillWorking: 'Grazie per l’attesa. Ci sto ancora lavorando.',
    lineRestored: 'Mi scusi, la linea si è interrotta.',
    areYouThere: 'È ancora in linea?',
    waiting: 'Certo, faccia con calma.',
    stillHere: 'Sono ancora qui.',
    sayOtherwise: 'Scusi, non ho ancora capito. Lo dica con altre parole, per favore.',
    speakClearly: 'La sento male. Parli lentamente e con chiarezza, per favore.',
    sayOtherwiseOrKeys:
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
    anythingElse: 'Kan ik verder nog iets voor u doen?',
    cannotDiscuss: 'Het spijt me, daar kan ik niet over praten. Wat kan ik verder voor u doen?',
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
    sayOtherwise: 'Sorry, ik heb u nog niet begrepen. Zegt u het anders, alstublieft.',
    speakClearly: 'Ik versta u slecht. Spreek langzaam en duidelijk, alstublieft.',
    sayOtherwiseOrKeys:
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
    anythingElse: 'Posso ajudar em mais alguma coisa?',
    cannotDiscuss: 'Lamento, não posso falar sobre isso. Em que mais posso ajudar?',
    apology: 'Desculpe, não posso continuar esta chamada por causa de um problema técnico. Adeus.',
    handOver:
      'Desculpe, estou com um problema técnico. Vou passar a chamada a alguém que o pode ajudar.',
    oneMoment: ['Um momento, por favor.', 'Só um instante.', 'Deixe-me ver.'],
    stillWorking: 'Obrigado por esperar. Ainda estou tratando disso.',
    lineRestored: 'Desculpe, a ligação foi interrompida.',
    areYouThere: 'Ainda está aí?',
    waiting: 'Claro, leve o tempo que precisar.',
    stillHere: 'Ainda estou aqui.',
    sayOtherwise: 'Desculpe, ainda não entendi. Diga de outra maneira, por favor.',
    speakClearly: 'Estou a ouvir mal. Fale devagar e com clareza, por favor.',
    sayOtherwiseOrKeys:
      'Desculpe, ainda não entendi. Diga de outra maneira, ou use as teclas do telefone.',
    keysOnly:
      'Lamento, neste momento não consigo entender a voz. Use as teclas do telefone, por favor.',
    confirm: 'Entendi {value}. Está certo?',
    goodbye: 'Obrigado pelo seu tempo. Adeus.',
    endingSoon: 'O nosso tempo está quase no fim: a chamada vai terminar em breve.',
  },
  hi: {
    sayAgain: 'माफ़ कीजिए, क्या आप इसे दोबारा कह सकते हैं?',
    trouble: 'माफ़ कीजिए, अभी कुछ तकनीकी समस्या आ रही है। क्या आप इसे दोबारा कह सकते हैं?',
    anythingElse: 'क्या आपको और किसी चीज़ में मदद चाहिए?',
    cannotDiscuss: 'मुझे खेद है, इस बारे में बात नहीं हो सकती। आपको और किस चीज़ में मदद चाहिए?',
    apology: 'मुझे खेद है, तकनीकी समस्या के कारण यह कॉल आगे नहीं चल सकती। नमस्ते।',
    handOver:
      'मुझे खेद है, तकनीकी समस्या आ रही है। आपकी बात किसी ऐसे व्यक्ति से कराई जा रही है जो आपकी मदद कर सकते हैं।',
    oneMoment: ['एक क्षण रुकिए।', 'बस एक मिनट।', 'अभी देखते हैं।'],
    stillWorking: 'इंतज़ार करने के लिए धन्यवाद। काम अभी चल रहा है।',
    lineRestored: 'माफ़ कीजिए, लाइन कट गई थी।',
    areYouThere: 'क्या आप लाइन पर हैं?',
    waiting: 'ज़रूर, आराम से।',
    stillHere: 'मैं लाइन पर हूँ।',
    sayOtherwise: 'माफ़ कीजिए, बात अब भी समझ में नहीं आई। कृपया दूसरे शब्दों में कहिए।',
    speakClearly: 'आवाज़ साफ़ नहीं आ रही है। कृपया धीरे और साफ़ बोलिए।',
    sayOtherwiseOrKeys:
      'माफ़ कीजिए, बात अब भी समझ में नहीं आई। कृपया दूसरे शब्दों में कहिए, या अपने फ़ोन के बटन दबाइए।',
    keysOnly: 'मुझे खेद है, अभी आवाज़ समझ में नहीं आ रही है। कृपया अपने फ़ोन के बटन दबाइए।',
    confirm: 'मैंने {value} समझा। क्या यह सही है?',
    goodbye: 'आपके समय के लिए धन्यवाद। नमस्ते।',
    endingSoon: 'हमारा समय समाप्त होने वाला है: यह कॉल थोड़ी देर में बंद हो जाएगी।',
  },
  ar: {
    sayAgain: 'عذرًا، هل يمكنك إعادة ذلك من فضلك؟',
    trouble: 'عذرًا، لدي مشكلة تقنية الآن. هل يمكنك إعادة ذلك من فضلك؟',
    anythingElse: 'هل هناك شيء آخر يمكنني مساعدتك به؟',
    cannotDiscuss: 'عذرًا، لا يمكنني التحدث عن ذلك. بماذا يمكنني مساعدتك أيضًا؟',
    apology: 'عذرًا، لا يمكنني متابعة هذه المكالمة بسبب مشكلة تقنية. مع السلامة.',
    handOver: 'عذرًا، لدي مشكلة تقنية. سأحولك إلى شخص يمكنه مساعدتك.',
    oneMoment: ['لحظة من فضلك.', 'لحظة واحدة.', 'سأتحقق من ذلك.'],
    stillWorking: 'شكرًا على انتظارك. ما زلت أعمل على ذلك.',
    lineRestored: 'عذرًا، انقطع الخط.',
    areYouThere: 'هل ما زلت على الخط؟',
    waiting: 'بالطبع، على راحتك.',
    stillHere: 'أنا ما زلت هنا.',
    sayOtherwise: 'عذرًا، لم أفهم بعد. يرجى قول ذلك بكلمات أخرى.',
    speakClearly: 'الصوت غير واضح. يرجى التحدث ببطء ووضوح.',
    sayOtherwiseOrKeys: 'عذرًا، لم أفهم بعد. يرجى قول ذلك بكلمات أخرى، أو استخدام أزرار الهاتف.',
    keysOnly: 'عذرًا، لا يمكنني فهم الكلام حاليًا. يرجى استخدام أزرار الهاتف.',
    confirm: 'فهمت {value}. هل هذا صحيح؟',
    goodbye: 'شكرًا على وقتك. مع السلامة.',
    endingSoon: 'أوشك وقتنا على الانتهاء: ستنتهي هذه المكالمة قريبًا.',
  },
  zh: {
    sayAgain: '不好意思，请您再说一遍，好吗？',
    trouble: '不好意思，我这边出了点技术问题。请您再说一遍，好吗？',
    anythingElse: '请问还有什么可以帮您的吗？',
    cannotDiscuss: '很抱歉，这个话题我不方便谈。请问还有什么可以帮您的吗？',
    apology: '很抱歉，由于技术问题，我无法继续这次通话。再见。',
    handOver: '很抱歉，我这边出了技术问题。我帮您转接能帮助您的人。',
    oneMoment: ['请稍等。', '稍等一下。', '我看一下。'],
    stillWorking: '感谢您的耐心等待，我还在处理。',
    lineRestored: '不好意思，刚才线路中断了。',
    areYouThere: '请问您还在吗？',
    waiting: '好的，您慢慢来。',
    stillHere: '我还在。',
    sayOtherwise: '不好意思，我还是没听懂。请您换个说法。',
    speakClearly: '线路好像不太清楚。请您说得慢一点、清楚一点。',
    sayOtherwiseOrKeys: '不好意思，我还是没听懂。请您换个说法，或者使用电话按键。',
    keysOnly: '很抱歉，我现在无法识别语音。请使用电话按键。',
    confirm: '我听到的是{value}，对吗？',
    goodbye: '感谢您的时间，再见。',
    endingSoon: '我们的时间快到了，通话即将结束。',
  },
  ja: {
    sayAgain: '恐れ入りますが、もう一度おっしゃっていただけますか？',
    trouble:
      '申し訳ございません、ただいま技術的な問題が発生しております。もう一度おっしゃっていただけますか？',
    anythingElse: 'ほかにご用件はございますか？',
    cannotDiscuss:
      '申し訳ございません、その件についてはお話しできません。ほかにご用件はございますか？',
    apology: '申し訳ございません、技術的な問題のため通話を続けることができません。失礼いたします。',
    handOver: '申し訳ございません、技術的な問題が発生しました。担当者におつなぎします。',
    oneMoment: ['少々お待ちください。', 'ただいま確認いたします。', '少しお待ちください。'],
    stillWorking: 'お待たせしております。まだ確認中です。',
    lineRestored: '申し訳ございません、通話が途切れておりました。',
    areYouThere: 'もしもし、聞こえていらっしゃいますか？',
    waiting: 'はい、ごゆっくりどうぞ。',
    stillHere: 'はい、こちらにおります。',
    sayOtherwise: '申し訳ございません、まだ聞き取れませんでした。別の言い方でお話しください。',
    speakClearly: 'お声が聞き取りにくいようです。ゆっくり、はっきりとお話しください。',
    sayOtherwiseOrKeys:
      '申し訳ございません、まだ聞き取れませんでした。別の言い方でお話しいただくか、電話のボタンをお使いください。',
    keysOnly: '申し訳ございません、ただいま音声を認識できません。電話のボタンをお使いください。',
    confirm: '{value}でよろしいでしょうか？',
    goodbye: 'お時間をいただきありがとうございました。失礼いたします。',
    endingSoon: 'まもなくお時間となりますので、通話が終了します。',
  },
};

/** Languages whose lines are not in Latin letters. */
const OTHER_SCRIPTS: ReadonlySet<string> = new Set(['hi', 'ar', 'zh', 'ja']);

/** Lines for a BCP 47 tag, such as `de-AT`; English for a language without lines, and for one whose script the voice
 *  lacks. */
export function linesFor(language: string, isLatinOnly = false): DialogueLines {
  const [first = ''] = language.toLowerCase().split(/[-_]/);
  const isKnown = Object.hasOwn(LINES, first) && !(isLatinOnly && OTHER_SCRIPTS.has(first));
  return { ...ENGLISH_LINES, ...(isKnown ? LINES[first] : {}) };
}
