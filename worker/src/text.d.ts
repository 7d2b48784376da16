/** A file as text: a TypeScript source arrives bundled to one script, any other file as it is. */
declare module "*?text" {
  const text: string;
  export default text;
}
