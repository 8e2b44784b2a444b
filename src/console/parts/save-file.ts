// Saves a file by the browser's download.

/** Time for which a file's address stays: the browser has begun to read it long before. */
const ADDRESS_MS = 10_000;

export function saveText(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveFrom(address, name);
  setTimeout(() => URL.revokeObjectURL(address), ADDRESS_MS);
}

export function saveFrom(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
