"""Turn pip's report of an installation into lines "name==version --hash=sha256:..."; `make hashes` calls it.

Torch is left out: which of its builds is installed depends on the machine.
"""

import json
import sys

report = json.load(sys.stdin)
for item in sorted(report["install"], key=lambda item: item["metadata"]["name"].lower()):
    metadata, archive = item["metadata"], item["download_info"].get("archive_info")
    if archive and metadata["name"] != "torch":  # the package itself has no archive
        print(f"{metadata['name']}=={metadata['version']} --hash=sha256:{archive['hashes']['sha256']}")
