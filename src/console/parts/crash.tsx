// Catches a fault of a page, so that the navigation stays.

import { Component, type ReactNode } from 'react';
import { textOf } from '../api/errors.ts';
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
        This page failed: {textOf(this.state.fault)}{' '}
        <button type="button" className="link" onClick={() => location.reload()}>
          Load it again
        </button>
      </Notice>
    );
  }
}
