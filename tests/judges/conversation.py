CLIENTS = []
def problems(): return []
