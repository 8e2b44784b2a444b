// A Vosk server in place of the real one: one reply to each message once the config has come, by exact texts as
// asr_server.py compares them. What it recognises is a script: a list of words for each utterance, 200 ms each.

import {
  type ServiceConnection,
  type SocketService,
  startSocketService,
} from './service-socket.ts';

export interface FakeVosk {
  url: string;
  /** The configs of all connections, in order. */
  configs: { sample_rate: number; words: boolean; phrase_list?: string[] }[];
  /** Bytes of audio, of all connections. */
  audioBytes: number;
  /** Connections that ended with the `eof` of the protocol. */
  eofs: number;
  service: SocketService;
  /** From now on nothing is replied. */
  stall(): void;
  close(): Promise<void>;
}

export interface FakeVoskOptions {
  /** The words of each utterance; none: silence. */
  utterances?: readonly string[];
  /** Times go on over resets, as in newer servers. Default: they restart. */
  goesOn?: boolean;
  /** The utterance whose first words Kaldi's endpoint rule ends early, after so many words. */
  endpoint?: { utterance: number; words: number };
  /** In place of the reply to the nth message. */
  odd?: { message: number; reply: string };
  headers?(headers: ServiceConnection['request']['headers']): void;
}

const WORD_BYTES = 3_200;

export async function startFakeVosk(options: FakeVoskOptions = {}): Promise<FakeVosk> {
  const { utterances = [], goesOn = false } = options;
  let utterance = 0;
  let isStalled = false;
  const service = await startSocketService({ onConnection: serve });
  const fake: FakeVosk = {
    url: service.url,
    configs: [],
    audioBytes: 0,
    eofs: 0,
    service,
    stall() {
      isStalled = true;
    },
    close: service.close,
  };

  function serve({ socket, request }: ServiceConnection): void {
    options.headers?.(request.headers);
    let isConfigured = false;
    let before = 0;
    let bytes = 0;
    let told = 0;
    let messages = 0;
    const wordsNow = (): string[] => (utterances[utterance] ?? '').split(' ').filter(Boolean);
    const send = (reply: unknown): void => {
      messages += 1;
      if (isStalled) return;
      const { odd } = options;
      socket.send(odd?.message === messages ? odd.reply : JSON.stringify(reply));
    };
    const result = (from: number, to: number): unknown => {
      const words = wordsNow().slice(from, to);
      const startS = goesOn ? before / 16_000 : 0;
      const times = words.map((word, i) => {
        const start = startS + (from + i) * 0.2;
        return { word, start, end: start + 0.2, conf: 0.9 };
      });
      return { ...(words.length > 0 && { result: times }), text: words.join(' ') };
    };
    const final = (): void => {
      send(result(told, wordsNow().length));
      utterance += 1;
      before += bytes;
      bytes = 0;
      told = 0;
    };
    const audio = (length: number): void => {
      bytes += length;
      fake.audioBytes += length;
      const { endpoint } = options;
      const heard = Math.min(wordsNow().length, Math.floor(bytes / WORD_BYTES));
      const isEnd = endpoint?.utterance === utterance && told === 0 && heard >= endpoint.words;
      if (!isEnd) {
        send({ partial: wordsNow().slice(told, heard).join(' ') });
        return;
      }
      told = endpoint.words;
      send(result(0, told));
    };
    const command = (text: string): void => {
      if (text === '{"reset" : 1}') {
        final();
      } else if (text === '{"eof" : 1}') {
        fake.eofs += 1;
        // What no audio was said of is no utterance of the script.
        if (bytes > 0) final();
        else send({ text: '' });
        socket.close(1000);
      } else {
        audio(text.length);
      }
    };
    socket.on('message', (data: Buffer, isBinary) => {
      const text = isBinary ? '' : data.toString();
      if (text.includes('config')) {
        fake.configs.push(JSON.parse(text).config);
        isConfigured = true;
      } else if (!isConfigured) {
        socket.close(1011, 'no config');
      } else if (isBinary) {
        audio(data.length);
      } else {
        command(text);
      }
    });
  }

  return fake;
}
