--[[ What a hostile or broken agent might do; each function is one way. ]]

function loop() while true do end end

function asyncLoop()
  local inner = coroutine.wrap(function()
    while true do pcall(coroutine.yield) end
  end)
  while true do inner() end
end

function pattern() return tostring(("a"):rep(20000):find(".-.-.-.-.-b")) end

function allocate() return tostring(#("x"):rep(2 ^ 30 // 1 | 0)) end

function grow()
  local all = {}
  while true do all[#all + 1] = ("x"):rep(1000) .. #all end
end

function hugeResult() return ("x"):rep(100 * 2 ^ 20 // 1 | 0) end

function hugeStore(args, store) store.text = ("x"):rep(10 * 2 ^ 20 // 1 | 0) end

function recurse()
  local function deeper(n) return deeper(n + 1) + 1 end
  return tostring(deeper(0))
end

function floodLog(args, store, studio)
  for i = 1, 50000 do studio.log("line " .. i) end
  return "done"
end

function floodRequests(args, store, studio)
  local refused, accepted = 0, {}
  for _ = 1, 20000 do
    local fine, promise = pcall(studio.history.search, "x")
    if fine then accepted[#accepted + 1] = promise else refused = refused + 1 end
  end
  for _, promise in ipairs(accepted) do promise:await() end
  return "refused " .. refused
end

function tamper()
  leak = "from the other agent"
  getmetatable("").__index = function() return "forged" end
  string.format, string.find, string.gsub, string.byte = nil, nil, nil, nil
  table.concat, next, pairs, type, error, pcall = nil, nil, nil, nil, nil, nil
  coroutine.resume = nil
end

function look() return tostring(leak) .. " " .. ("x"):rep(2) .. " " .. table.concat({ 1 }) end

local NAMES = "io package require load loadstring loadfile dofile debug collectgarbage js emit host store json"

function escape(args)
  local found = {}
  for name in NAMES:gmatch("%S+") do
    if _G[name] ~= nil then found[#found + 1] = name end
  end
  for _, name in ipairs({ "execute", "exit", "getenv", "remove", "rename", "tmpname", "setlocale" }) do
    if os[name] then found[#found + 1] = "os." .. name end
  end
  if string.dump then found[#found + 1] = "string.dump" end
  local seen = {}
  local function search(value, path)
    if type(value) == "userdata" then found[#found + 1] = path end
    if type(value) ~= "table" or seen[value] then return end
    seen[value] = true
    search(getmetatable(value), path .. "<meta>")
    for key, inner in pairs(value) do search(inner, path .. "." .. tostring(key)) end
  end
  search(_G, "_G")
  search(getmetatable(""), "string")
  return table.concat(found, ", ")
end

function ping() return "pong" end
