export const FORMATTING = [];
