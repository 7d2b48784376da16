let made, held;

export function put(store) {
  made = { list: [1] };
  store.box = made;
  return String(store.box === made);
}

export function deepen(store) {
  store.box.list.push(2);
}

export function outside() {
  made.list.push(9);
}

export function hold(store) {
  held = store.box.list;
  return String(held === store.box.list && held.length === 2);
}

export function late() {
  held.push(3);
}

export function read(store) {
  let sum = 0;
  for (const number of store.box.list) sum += number;
  for (const [name, value] of Object.entries(store)) sum += name.length + Object.keys(value).length;
  return String(sum);
}

export function move(store) {
  store.other = store.box;
  delete store.box;
}

export function touch(store) {
  const row = { n: 1 };
  store.row = row;
  const same = store.row === row;
  delete store.row;
  return String(same);
}

export function dress(store) {
  class Counted {
    sum() {
      return this.list.reduce((sum, number) => sum + number, 0);
    }
  }
  Object.setPrototypeOf(store.other, Counted.prototype);
  Object.freeze(store.other.list);
  return String(store.other.sum());
}

export function grow(store) {
  store.other.list.push({ rows: [0] });
}

export function fill(store) {
  store.other.list[3].rows.splice(0, 1, { n: 1 }, { n: 2 });
}

export function shrink(store) {
  store.other.list.splice(0, 2);
  store.other.list[1].rows.reverse();
}

export function whole(store) {
  return store;
}
