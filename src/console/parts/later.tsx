// Lazy loading: components whose module is loaded when they are shown first. Not React's `lazy`: what suspends is shown 300 ms after its
// fallback at the earliest (FALLBACK_THROTTLE_MS of react-dom).

import { type ComponentType, useEffect, useState } from 'react';
import { Busy } from './notice.tsx';

export type LaterComponent<Props> = ComponentType<Props> & {
  /** Loads the module, once. Rejects if it cannot be loaded. */
  load: () => Promise<unknown>;
};

/** The component that `load` gives; before it is here, its place says that it comes, with `label`. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  label?: string,
): LaterComponent<Props> {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const loadOnce = () => {
    loading ??= load().then((component) => {
      Loaded = component;
    });
    return loading;
  };
  function Later(props: Props) {
    const [, setLoaded] = useState(Loaded !== undefined);
    const [fault, setFault] = useState<Error>();
    useEffect(() => {
      loadOnce().then(() => setLoaded(true), setFault);
    }, []);
    if (fault !== undefined) throw fault;
    return Loaded === undefined ? (
      <Busy {...(label !== undefined && { label })} />
    ) : (
      <Loaded {...props} />
    );
  }
  return Object.assign(Later, { load: loadOnce });
}
