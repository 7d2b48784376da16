local made, held

function put(store)
  made = { list = { 1 } }
  store.box = made
  return tostring(store.box == made)
end

function deepen(store)
  table.insert(store.box.list, 2)
end

function outside()
  table.insert(made.list, 9)
end

function hold(store)
  held = store.box.list
  return tostring(held == store.box.list and #held == 2)
end

function late()
  held[#held + 1] = 3
end

function read(store)
  local sum = 0
  for _, number in ipairs(store.box.list) do sum = sum + number end
  for name, value in pairs(store) do
    sum = sum + #name
    for _ in next, value do sum = sum + 1 end
  end
  return tostring(sum)
end

function move(store)
  store.other = store.box
  store.box = nil
end

function touch(store)
  local row = { n = 1 }
  rawset(store, "row", row)
  local same = rawget(store, "row") == row
  store.row = nil
  return tostring(same)
end

function dress(store)
  local Counted = {}
  function Counted:sum()
    local sum = 0
    for _, number in ipairs(self.list) do sum = sum + number end
    return sum
  end
  setmetatable(store.other, { __index = Counted })
  return tostring(store.other:sum())
end

function grow(store)
  table.insert(store.other.list, { rows = { 0 } })
end

function fill(store)
  local rows = store.other.list[4].rows
  rows[1], rows[2] = { n = 1 }, { n = 2 }
end

function shrink(store)
  local list = store.other.list
  table.remove(list, 1)
  table.remove(list, 1)
  local rows = list[2].rows
  table.sort(rows, function(one, other) return one.n > other.n end)
end

function whole(store)
  return store
end
