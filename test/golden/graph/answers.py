"""Writes answers.json: what networkx 3.6 answers, for test/graph/algorithms.test.ts. Weights are what edges carry."""
import json
import random

import networkx as nx


def karate():
    """Zachary, "An Information Flow Model for Conflict and Fission in Small Groups", 1977; as arrows from low to high."""
    g = nx.karate_club_graph()
    return len(g), [(a, b, d["weight"]) for a, b, d in g.edges(data=True)]


def florentine():
    """Breiger and Pattison, "Cumulated Social Roles", 1986: marriages of fifteen families."""
    g = nx.convert_node_labels_to_integers(nx.florentine_families_graph(), ordering="sorted")
    return len(g), [(a, b, 1) for a, b in g.edges()]


def parallel():
    """Arrows both ways, some twice; a few nodes alone."""
    r = random.Random(7)
    return 40, [(r.randrange(36), r.randrange(36), r.randrange(1, 9)) for _ in range(90)]


def answers(count, edges):
    m = nx.MultiDiGraph()
    m.add_nodes_from(range(count))
    m.add_weighted_edges_from(edges)
    d = nx.DiGraph(m)
    u = nx.Graph(d.to_undirected())
    u.remove_edges_from(nx.selfloop_edges(u))
    n = nx.MultiGraph()
    n.add_nodes_from(range(count))
    n.add_weighted_edges_from(edges)
    listed = lambda found: [found[i] for i in range(count)]
    groups = lambda found: [min(next(c for c in found if i in c)) for i in range(count)]
    lengths = nx.single_source_dijkstra_path_length(m, 0)
    jaccard = {}
    for a in range(count):
        for b in range(count):
            one, other = set(d.successors(a)), set(d.successors(b))
            if a != b and one & other:
                jaccard[f"{a} {b}"] = len(one & other) / len(one | other)
    return {
        "nodes": count,
        "edges": edges,
        "pageRank": listed(nx.pagerank(m, alpha=0.85, weight=None, tol=1e-12, max_iter=1000)),
        "pageRankWeighted": listed(nx.pagerank(m, alpha=0.7, weight="weight", tol=1e-12, max_iter=1000)),
        "triangles": listed(nx.triangles(u)),
        "coefficient": listed(nx.clustering(u)),
        "wcc": groups(list(nx.weakly_connected_components(m))),
        "scc": groups(list(nx.strongly_connected_components(m))),
        "betweenness": listed(nx.betweenness_centrality(d)),
        "betweennessUndirected": listed(nx.betweenness_centrality(u, normalized=False)),
        "closeness": listed(nx.closeness_centrality(d)),
        "closenessUndirected": listed(nx.closeness_centrality(u, wf_improved=False)),
        "degree": listed(dict(m.degree())),
        "inDegreeWeighted": listed(dict(m.in_degree(weight="weight"))),
        "core": listed(nx.core_number(u)),
        "hops": [nx.single_source_shortest_path_length(m, 0).get(i) for i in range(count)],
        "dijkstra": [lengths.get(i) for i in range(count)],
        "jaccard": jaccard,
        "modularityOfOneEach": nx.community.modularity(n, [{i} for i in range(count)]),
        "louvainModularity": max(
            nx.community.modularity(n, nx.community.louvain_communities(n, weight=None, seed=s), weight=None)
            for s in range(20)
        ),
    }


found = {graph.__name__: answers(*graph()) for graph in (karate, florentine, parallel)}
print(json.dumps(found))
