/** Texts and media that several examples of requests use. */

export const FEW_WORDS = "Ann Miller of Acme Corporation flew from Berlin to Paris on 3 May 2026.";
export const REVIEW = "The soup was cold, but the waiter was friendly and the dessert was wonderful.";
/** A red square of 8 pixels by 8, as PNG. */
export const RED_SQUARE =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII=";
/** Some milliseconds of silence, as WAV. */
export const SILENCE = `UklGRlQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YTAAAACA${"gICA".repeat(15)}gIA=`;
