/** Four tiles of a mosaic. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      <rect x="1" y="1" width="6" height="6" rx="1" class="tile-a" />
      <rect x="9" y="1" width="6" height="6" rx="1" class="tile-b" />
      <rect x="1" y="9" width="6" height="6" rx="1" class="tile-b" />
      <rect x="9" y="9" width="6" height="6" rx="1" class="tile-c" />
    </svg>
  );
}
