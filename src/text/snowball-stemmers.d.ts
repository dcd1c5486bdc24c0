declare module "snowball-stemmers" {
  export function newStemmer(language: string): { stem(word: string): string };
}
declare module "stopword" {
  export const ara: string[];
  export const eus: string[];
  export const cat: string[];
  export const dan: string[];
  export const nld: string[];
  export const fin: string[];
  export const fra: string[];
  export const deu: string[];
  export const hun: string[];
  export const ita: string[];
  export const nob: string[];
  export const por: string[];
  export const ron: string[];
  export const rus: string[];
  export const spa: string[];
  export const swe: string[];
  export const tur: string[];
}
