// Text to copy: a button, and a block of code with one.

import { useState } from 'react';
import { Icon } from './icon.tsx';

/** Time for which the button says that it has copied. */
const SAID_MS = 2_000;

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    // Browsers refuse the clipboard on pages without TLS.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(isCopied === true ? 'Copied' : 'Select it and press Ctrl+C');
    setTimeout(() => setSaid(''), SAID_MS);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <Icon name="copy" size={14} />
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  );
}

export function Code({ text, name }: { text: string; name: string }) {
  return (
    <section className="code-block" aria-label={name}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} />
    </section>
  );
}
