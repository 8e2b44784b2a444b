// Error boundary of a page: its fault leaves the navigation in place.

import { Component, type ReactNode } from 'react';
import { Notice } from './notice.tsx';

export class Crash extends Component<{ children: ReactNode }, { fault: unknown }> {
  override state: { fault: unknown } = { fault: undefined };

  static getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override render() {
    if (this.state.fault === undefined) return this.props.children;
    return (
      <Notice tone="bad">
        This page failed: {messageOf(this.state.fault)}{' '}
        <button type="button" className="link" onClick={() => location.reload()}>
          Load it again
        </button>
      </Notice>
    );
  }
}

/** Of a fault of the program, which is no answer of the gateway. */
function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
