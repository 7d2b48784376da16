made = held = None


def put(store):
    global made
    made = {"list": [1]}
    store["box"] = made
    return "true" if store["box"] is made else "false"


def deepen(store):
    store["box"]["list"].append(2)


def outside():
    made["list"].append(9)


def hold(store):
    global held
    held = store["box"]["list"]
    return "true" if held is store["box"]["list"] and len(held) == 2 else "false"


def late():
    held.append(3)


def read(store):
    total = sum(store["box"]["list"])
    return str(total + sum(len(name) + len(value) for name, value in store.items()))


def move(store):
    store["other"] = store.pop("box")


def touch(store):
    row = {"n": 1}
    store["row"] = row
    same = store["row"] is row
    del store["row"]
    return "true" if same else "false"


def dress(store):
    import heapq

    heapq.heapify(store["other"]["list"])
    return str(sum(store["other"]["list"]))


def grow(store):
    store["other"]["list"] += [{"rows": [0]}]


def fill(store):
    store["other"]["list"][3]["rows"][:] = [{"n": 1}, {"n": 2}]


def shrink(store):
    del store["other"]["list"][:2]
    store["other"]["list"][1]["rows"].reverse()


def whole(store):
    return store
