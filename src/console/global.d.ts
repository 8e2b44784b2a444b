// Globals of the console that the build defines.

/** Addresses of the modules of the audio thread, by the names of their files. */
declare const WORKLETS: Readonly<Record<string, string>>;

declare module '*.css';
