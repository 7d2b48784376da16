/** What libraries of the sample put beside the language; agents have neither page nor network. */
declare const dice: {
  parse(text: string): { count: number; sides: number; modifier: number } | null;
  roll(count: number, sides: number, modifier: number): Roll;
  describe(roll: Roll): string;
};
interface Roll {
  count: number;
  sides: number;
  modifier: number;
  faces: number[];
  total: number;
}
